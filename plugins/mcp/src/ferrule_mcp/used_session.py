"""The session of one call with a server that goes on between calls, where the process does."""

from __future__ import annotations

from ferrule import ToolError
from ferrule_mcp.stdio.failures import TIMEOUT
from ferrule_mcp.stdio.session import ServerError, Session

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from ferrule import Context, Lasting


class _Held:
    """A server that goes on between calls. start: all that it was started with, values of credentials included."""

    __slots__ = ("session", "start")

    def __init__(self, session: Session, start: tuple[object, ...]) -> None:
        self.session = session
        self.start = start


class UsedSession:
    """The session of one call, after which it goes on, unless the server does not.

    Args:
        session: with the server.
        lasting: what holds it afterwards.
        start: what the server was started with.
        is_new: whether the server has only just been started.
    """

    def __init__(self, session: Session, lasting: Lasting, start: tuple[object, ...], *, is_new: bool) -> None:
        self.session = session
        self._lasting = lasting
        self._start = start
        self._is_new = is_new

    def initialize(self) -> None:
        """Say who asks, where that has not been said. Raises what `Session.initialize` raises."""
        if self._is_new:
            self.session.initialize()
            self._lasting.keep(_Held(self.session, self._start))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, _: object) -> None:
        lasting = self._lasting
        if lasting.held is None:
            self.session.close(is_failed=True)
        elif isinstance(error, ToolError) and error.code == TIMEOUT:
            self.session.give_up()
        elif error is not None and not isinstance(error, ServerError):
            self.session.close(is_failed=True)
            lasting.end()


def use_session(
    begin: Callable[[], Session], start: tuple[object, ...], context: Context, lasting: Lasting
) -> UsedSession:
    """The session of a call: with the server that goes on since the last one, if it was started in the same way.

    Args:
        begin: starts the server.
        start: all that it is started with.
        context: of the call.
        lasting: what holds a server between calls.

    Raises:
        ToolError: it cannot be started.
    """
    held: _Held | None = lasting.held
    if held is not None:
        if held.start == start and held.session.renew(context.deadline, context.secrets):
            return UsedSession(held.session, lasting, start, is_new=False)
        held.session.close(is_failed=held.start == start)
        lasting.end()
    return UsedSession(begin(), lasting, start, is_new=True)
