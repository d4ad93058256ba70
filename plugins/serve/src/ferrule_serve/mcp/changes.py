"""Telling clients that there are other tools now: a subscription since 2026-07-28, a notification to all before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged

if TYPE_CHECKING:
    import mcp_types as types
    from mcp.server import ServerRequestContext
    from mcp.server.connection import Connection


class Changes:
    """Who is told. listen: answers `subscriptions/listen`. has_sessions: whether earlier clients are told at all."""

    def __init__(self, *, has_sessions: bool) -> None:
        self._bus = InMemorySubscriptionBus()
        self._has_sessions = has_sessions
        self._connections: WeakSet[Connection] = WeakSet()
        self.listen = ListenHandler(self._bus)

    async def connected(self, context: ServerRequestContext[Any], _params: types.NotificationParams) -> None:
        """A client of the handshake era is ready; it is told as long as the connection is there."""
        if self._has_sessions:
            self._connections.add(context.session._connection)  # the SDK hands it to handlers in no other way

    async def tell(self) -> None:
        """Tell all that want to know: the list of tools is another one."""
        await self._bus.publish(ToolsListChanged())
        for connection in list(self._connections):
            await connection.send_tool_list_changed()

    def close(self) -> None:
        """End all subscriptions, as the protocol has it, so that nothing waits for them."""
        self.listen.close()
