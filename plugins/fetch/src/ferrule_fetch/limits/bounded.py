"""Work that may take too long, or too much memory, in a process of its own that is ended when it does."""

from __future__ import annotations

import os
import select
import signal
import time
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable

_CHUNK = 1 << 16  # bytes


class TooMuch(Exception):
    """The work has not been done: it took too much time, memory or room, or it failed."""


def bounded(work: Callable[[], bytes], *, deadline: float, memory: int, room: int) -> bytes:
    """Do a piece of work in a copy of this process, and return what it returns.

    deadline: an instant of `time.monotonic()`. memory: bytes that the copy may use, together with what it shares with
    this process; enforced on Linux alone. room: the longest result, in bytes. No other thread may be running, since
    what it has locked stays locked in the copy. Raises TooMuch, also where the work raises anything.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        _be_the_child(work, writer, memory, room)
    os.close(writer)
    try:
        result = _received(reader, deadline)
    except BaseException:
        os.kill(child, signal.SIGKILL)
        raise
    finally:
        os.close(reader)
        status = os.waitpid(child, 0)[1]
    if status != 0:
        raise TooMuch
    return result


def _received(reader: int, deadline: float) -> bytes:
    """All that is written to the other end of a pipe until it is closed."""
    pieces: list[bytes] = []
    poll = select.poll()
    poll.register(reader, select.POLLIN)
    while (left := deadline - time.monotonic()) > 0 and poll.poll(left * 1000 + 1):
        piece = os.read(reader, _CHUNK)
        if not piece:
            return b"".join(pieces)
        pieces.append(piece)
    raise TooMuch


def _be_the_child(work: Callable[[], bytes], writer: int, memory: int, room: int) -> NoReturn:
    """Do the work, and end without a word where it cannot be done: a parser that is out of memory may do anything."""
    code = 1
    with suppress(BaseException):
        _limit_memory(memory)
        result = memoryview(work())
        if len(result) <= room:
            while result:
                result = result[os.write(writer, result) :]
            code = 0
    os._exit(code)


def _limit_memory(most: int) -> None:
    import resource

    try:
        with open("/proc/self/statm", "rb") as file:  # noqa: PTH123 - pathlib takes longer to import than all else here
            pages = file.read().split()
    except OSError:
        return
    resident, data = int(pages[1]) * resource.getpagesize(), int(pages[5]) * resource.getpagesize()
    # The limit is on what is reserved, which is more than what is used: stacks of threads, for instance.
    limit = data + max(0, most - resident)
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    resource.setrlimit(resource.RLIMIT_DATA, (limit if hard < 0 else min(limit, hard), hard))
