"""The child's end of the pipe and the parent's, with a real pipe between them."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from ferrule.errors import ResultInvalid
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


def nested(levels: int) -> bytes:
    return b'{"run":' + b"[" * (levels - 1) + b"]" * (levels - 1) + b"}"


@pytest.mark.parametrize("kind", [b"e", b"q", b"r", b"f", b"kr"])
def test_what_is_nested_more_deeply_than_can_be_handed_on_is_no_message(kind: bytes) -> None:
    messages = Messages(LIMIT)
    for levels in range(501, 1000, 7):
        messages.feed(kind + nested(levels) + b"\n")
        if len(kind) == 2:
            assert messages.preliminary is None
    assert (messages.events, messages.questions, messages.result, messages.failure) == ([], [], None, None)
    messages = Messages(LIMIT)
    messages.feed(b"e" + nested(500) + b"\n")
    assert len(messages.events) == 1


def test_many_lists_beside_each_other_are_not_deep() -> None:
    messages = Messages(LIMIT)
    messages.feed(b'r{"rows":[' + b",".join([b"[[]]"] * 2_000) + b"]}\n")
    assert messages.result is not None


def test_a_result_that_is_nested_too_deeply_is_said_to_be() -> None:
    value: object = ()
    for _ in range(500):
        value = (value,)
    with pytest.raises(ResultInvalid, match="nested too deeply"):
        Channel(-1, LIMIT).result({"rows": value})


@pytest.mark.parametrize("facts", [b"{}", b'{"admin":5}', b'{"code":1,"message":"m"}', b'{"code":"X","message":["m"]}'])
def test_facts_without_a_code_and_a_message_are_no_failure(facts: bytes) -> None:
    for kind in (b"f", b"kf"):
        messages = Messages(LIMIT)
        messages.feed(kind + facts + b"\n")
        assert messages.failure is None
        assert not messages.ended
        assert messages.preliminary is None


def test_facts_of_another_kind_are_left_out_of_a_failure() -> None:
    messages = Messages(LIMIT)
    more = b'"hint":7,"admin":[],"retry_after":"1","event":4,"details":[1],"own":null'
    messages.feed(b'f{"code":"X","message":"m",' + more + b"}\n")
    assert messages.failure == {"code": "X", "message": "m", "own": None}
