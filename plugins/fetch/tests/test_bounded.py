"""Work in a process of its own, and what ends it."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ferrule_fetch.limits.bounded import TooMuch, bounded

MIB = 1 << 20


def do(work: Callable[[], bytes], seconds: float = 30, memory: int = 400 * MIB, room: int = MIB) -> bytes:
    return bounded(work, deadline=time.monotonic() + seconds, memory=memory, room=room)


def test_the_result_comes_back_whole() -> None:
    data = os.urandom(MIB)
    assert do(lambda: data) == data
    assert do(lambda: b"") == b""


def test_what_the_work_changes_stays_in_its_process() -> None:
    seen: list[int] = []

    def work() -> bytes:
        seen.append(os.getpid())
        return str(seen[0]).encode()

    assert do(work) != str(os.getpid()).encode()
    assert seen == []


def fail() -> bytes:
    raise ValueError("no such page")


def exit_early() -> bytes:
    raise SystemExit(0)


def crash() -> bytes:
    os.kill(os.getpid(), signal.SIGKILL)
    return b""


def fill_memory() -> bytes:
    return b"x" * len([bytearray(MIB) for _ in range(2_000)])


@pytest.mark.parametrize("work", [fail, exit_early, crash, fill_memory, lambda: bytes(MIB + 1)])
def test_work_that_fails_in_whatever_way_is_too_much(work: Callable[[], bytes]) -> None:
    with pytest.raises(TooMuch):
        do(work)


@pytest.mark.parametrize("seconds", [0.2, 0.0, -1.0])
def test_work_that_takes_too_long_is_ended(seconds: float) -> None:
    reader, writer = os.pipe()

    def work() -> bytes:
        os.write(writer, str(os.getpid()).encode())
        while True:
            pass

    with pytest.raises(TooMuch):
        do(work, seconds)
    os.write(writer, b".")
    process = os.read(reader, 20).partition(b".")[0]
    os.close(reader)
    os.close(writer)
    if process:
        with pytest.raises(ProcessLookupError):
            os.kill(int(process), 0)


def own_children() -> set[str]:
    """The children of this process, among which may be orphans of other tests that it has adopted."""
    lists = Path("/proc/self/task").glob("*/children")
    return {child for path in lists for child in path.read_text().split()}


def test_no_process_and_no_descriptor_is_left() -> None:
    before, children = os.listdir("/dev/fd"), own_children()
    for work in (fail, crash, lambda: b"x"):
        try:
            do(work)
        except TooMuch:
            continue
    assert own_children() <= children
    assert os.listdir("/dev/fd") == before
