"""A system call that cannot be answered yet."""

from __future__ import annotations

import select

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable


class Later:
    """A call that is answered once a descriptor is ready.

    Args:
        file: a descriptor to wait for.
        events: what it is waited for.
        leave: lets go of what it waits with, before anything else.
        finish: goes on with the call then: what it returns, or another of these; it raises OSError.
        give_up: is called instead, if nobody waits for the call any more.
    """

    __slots__ = ("events", "file", "finish", "give_up", "leave")

    def __init__(
        self,
        file: int,
        finish: Callable[[], int | Later],
        leave: Callable[[], None],
        events: int = select.EPOLLOUT,
    ) -> None:
        self.file = file
        self.finish = finish
        self.leave = leave
        self.events = events
        self.give_up: Callable[[], None] = _do_nothing


def _do_nothing() -> None:
    pass
