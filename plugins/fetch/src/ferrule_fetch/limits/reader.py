"""A reader of some format, run in a process that is ended where it takes too much."""

from __future__ import annotations

import time
from collections.abc import Callable
from math import ceil

from ferrule import bounded
from ferrule.errors import WorkFailed

_SHARE = 0.6  # of the time that is left
_SLOWDOWN = 4  # by which a busy machine may make the work last longer than the processor's time that it takes
_MEMORY_MIB = 240  # the processes of a call stay under 300 MiB together
_MAX_BYTES = 16 << 20  # of title and text
_READ, _REFUSED = b"\1", b"\2"


class TooMuch(Exception):
    """The work has not been done: it took too much time, memory or room, or it failed.

    limit: the one of `ferrule.bounded` that it passed, such as "memory_mib"; None where it failed in another way.
    """

    def __init__(self, message: str = "", *, limit: str | None = None) -> None:
        super().__init__(message)
        self.limit = limit


def bounded_reading(
    read: Callable[[], tuple[str, ...]], refusal: type[Exception] = TooMuch, *, deadline: float, seconds: float
) -> tuple[str, ...]:
    """Return the texts that `read` returns, or raise the `refusal` that it raises, with its message.

    It may take `seconds` of the processor's time, rounded up, which other processes do not use up; and never all that
    is left until `deadline`, an instant of `time.monotonic()`. Raises TooMuch where it takes more, or too much memory,
    and where it fails in any other way.
    """

    def work() -> bytes:
        try:
            texts = read()
        except refusal as error:
            return _REFUSED + str(error).encode()
        return _READ + b"\0".join(part.replace("\0", "").encode(errors="replace") for part in texts)

    until = min(seconds * _SLOWDOWN, (deadline - time.monotonic()) * _SHARE)
    try:
        result = bounded(work, seconds=until, cpu_seconds=ceil(seconds), memory_mib=_MEMORY_MIB, max_bytes=_MAX_BYTES)
    except WorkFailed as failed:
        raise TooMuch(limit=failed.limit) from failed
    if result.startswith(_REFUSED):
        raise refusal(result[1:].decode())
    return tuple(result[1:].decode().split("\0"))
