"""A reader of some format, run in a process that is ended where it takes too much."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ferrule_fetch.limits.bounded import TooMuch, bounded

if TYPE_CHECKING:
    from collections.abc import Callable

_SHARE = 0.6  # of the time that is left
_MEMORY = 240 << 20  # bytes; the processes of a call stay under 300 MiB together
_ROOM = 16 << 20  # bytes of title and text
_READ, _REFUSED = b"\1", b"\2"


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

    now = time.monotonic()
    limit = now + min(seconds, (deadline - now) * _SHARE)
    result = bounded(work, deadline=limit, memory=_MEMORY, room=_ROOM)
    if result.startswith(_REFUSED):
        raise refusal(result[1:].decode())
    title, text = result[1:].decode().split("\0")
    return title, text
