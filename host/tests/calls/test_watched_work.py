"""What one tool sends cannot end the calls of others, also where it brings a defect of the host to light."""

import os
import time
from collections.abc import Iterator
from typing import Any

import pytest

from ferrule.calls.fork_server.poll_loop import PollLoop
from ferrule.calls.fork_server.watched_process import WatchedProcess, WatchedWork
from ferrule.errors import FerruleError
from ferrule.supervision.channel.channel import Messages
from ferrule.supervision.signals import Signals


class Family:
    """Of a process that another one has started."""

    group = None

    def ask_status(self, process: int, tell: Any) -> None:
        tell(None)

    def end_strays(self) -> None:
        """There are none."""


@pytest.fixture
def pipes() -> Iterator[tuple[list[int], list[int]]]:
    readers, writers = [], []
    for _ in range(4):
        reader, writer = os.pipe()
        os.set_blocking(reader, False)
        readers.append(reader)
        writers.append(writer)
    yield readers, writers
    for file in (*readers, *writers):
        os.close(file)


class BrokenMessages(Messages):
    """A reader with a defect that shows with what it is sent."""

    def feed(self, data: bytes) -> None:
        raise KeyError("a defect")


def test_a_defect_in_reading_what_a_tool_sent_ends_its_call_alone(pipes: tuple[list[int], list[int]]) -> None:
    readers, writers = pipes
    loop, ends = PollLoop(), dict[str, FerruleError | None]()
    with Signals() as signals:

        def begin(name: str, place: int, messages: Messages) -> WatchedWork:
            def end(reason: FerruleError | None) -> None:
                ends[name] = reason
                if len(ends) == 2:
                    loop.stop()

            files = readers[place], readers[place + 1]
            return WatchedWork(
                loop, WatchedProcess(loop, Family()), files, messages, time.monotonic() + 60, end, signals
            )

        begin("bad", 0, BrokenMessages(1000))
        good = begin("good", 2, Messages(1000))
        os.write(writers[0], b"\nr{}\n")
        os.write(writers[2], b"\nr{}\n")
        loop.run()
    assert isinstance(ends["bad"], FerruleError)
    assert "KeyError" in ends["bad"].message
    assert b"test_watched_work" in ends["bad"].traceback
    assert ends["good"] is None
    assert good.outcome(None).result == b"{}"
