"""The child's end of the pipe and the parent's, with a real pipe between them."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from ferrule.supervision.channel.channel import Channel, Messages

LIMIT = 65_534
THREADS, EVENTS = 4, 20

FORKED = """
import os
from ferrule.supervision.channel.channel import Channel

channel = Channel(1, 65_534)
if os.fork() == 0:
    channel.result({"answer": "of the copy"})
    channel.finish()
    os._exit(0)
os.wait()
channel.result({"answer": 42})
channel.finish()
"""


def test_messages_of_several_threads_arrive_whole() -> None:
    reader, writer = os.pipe()
    channel = Channel(writer, LIMIT)

    def send(thread: int) -> None:
        for number in range(EVENTS):
            channel.event({"from": thread, "number": number, "text": "x" * 60_000})

    def send_all() -> None:
        with ThreadPoolExecutor(THREADS) as threads:
            list(threads.map(send, range(THREADS)))
        channel.result({"answer": 42})
        channel.finish()
        os.close(writer)

    messages = Messages(LIMIT)
    with ThreadPoolExecutor(1) as child, open(reader, "rb", buffering=0) as pipe:
        sent = child.submit(send_all)
        while data := pipe.read(65_536):
            messages.feed(data)
        sent.result()
    assert len(messages.events) == THREADS * EVENTS
    assert messages.result == b'{"answer":42}'


@pytest.mark.process
def test_a_copy_of_the_child_says_nothing() -> None:
    done = subprocess.run([sys.executable, "-c", FORKED], capture_output=True, check=True)
    assert done.stdout == b'r{"answer":42}\n'
