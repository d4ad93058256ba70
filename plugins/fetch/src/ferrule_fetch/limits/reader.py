"""A reader of some format, run in a process that is ended where it takes too much."""

from __future__ import annotations

import time
from collections.abc import Callable

from ferrule import bounded
from ferrule.errors import WorkFailed

_SHARE = 0.6  # of the time that is left
_MEMORY_MIB = 240  # the processes of a call stay under 300 MiB together
_MAX_BYTES = 16 << 20  # of title and text
_READ, _REFUSED = b"\1", b"\2"


class TooMuch(Exception):
    """The work has not been done: it took too much time, memory or room, or it failed."""


def bounded_reading(
    read: Callable[[], tuple[str, str]], refusal: type[Exception] = TooMuch, *, deadline: float, seconds: float
) -> tuple[str, str]:
    """Return the title and the text that `read` returns, or raise the `refusal` that it raises, with its message.

    It may take `seconds`, and never all that is left until `deadline`, an instant of `time.monotonic()`. Raises
    TooMuch where it takes more, or too much memory, and where it fails in any other way.
    """

    def work() -> bytes:
        try:
            title, text = read()
        except refusal as error:
            return _REFUSED + str(error).encode()
        return _READ + b"\0".join(part.replace("\0", "").encode(errors="replace") for part in (title, text))

    limit = min(seconds, (deadline - time.monotonic()) * _SHARE)
    try:
        result = bounded(work, seconds=limit, memory_mib=_MEMORY_MIB, max_bytes=_MAX_BYTES)
    except WorkFailed:
        raise TooMuch from None
    if result.startswith(_REFUSED):
        raise refusal(result[1:].decode())
    title, text = result[1:].decode().split("\0")
    return title, text
