"""What a tool holds from one call to the next, in a process that makes all calls of its distribution's tools."""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any


class Lasting:
    """What stays in the process of a call for the next one: an object of the tool's, and the processes it started.

    A keeper ends the process, with all that was started in it, where nothing was kept; when it has not been called for
    long enough; and when the tool, its permissions or the variables that it sees are others. A call that is cancelled
    or out of time ends it, too.

    held: what was kept, None where nothing is.
    """

    __slots__ = ("held",)

    def __init__(self) -> None:
        self.held: Any = None

    def keep(self, held: object) -> None:
        """Hold this for the next call."""
        self.held = held

    def end(self) -> None:
        """Hold nothing any more, and end all processes that this one has started."""
        from ferrule.supervision import processes

        self.held = None
        for process in processes.children():
            processes.end_descendants(process)
