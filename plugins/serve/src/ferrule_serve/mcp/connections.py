"""A bound on connections, in total and by peer, and on the time in which a request has to come."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from ferrule.config import Configuration

_LINGER_SECONDS = 1.0
_REFUSED = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 5\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
_LATE = b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
_BODY_HEADERS = (b"content-length", b"transfer-encoding")
_Peer = tuple[str, int]
_KEYS = {"per_peer": "connections_per_peer"}  # of the fields that have another name in config.toml


class ConnectionLimits(NamedTuple):
    """connections: at a time. per_peer: of one address. head_seconds: from a request's first byte to its last header.

    A connection that sends nothing has that time, too. body_seconds: from there to the last byte.
    """

    connections: int = 1024
    per_peer: int = 256
    head_seconds: float = 10.0
    body_seconds: float = 60.0

    @classmethod
    def of(cls, settings: Configuration) -> ConnectionLimits:
        """Those of the table `[serve]`; what is no positive number counts as not said."""
        table = settings.content.get("serve", {})
        said: Mapping[str, object] = table if isinstance(table, dict) else {}
        found = {field: said.get(_KEYS.get(field, field)) for field in cls._fields}
        good = {
            field: value
            for field, value in found.items()
            if isinstance(value, int | float) and not isinstance(value, bool) and value > 0
        }
        return cls(**{field: value if field.endswith("_seconds") else int(value) for field, value in good.items()})  # type: ignore[arg-type]


class Connections:
    """Those that are open. The application says when a request begins and ends."""

    def __init__(self, limits: ConnectionLimits) -> None:
        self.limits = limits
        self._total = 0
        self._by_host: Counter[str] = Counter()
        self._open: dict[_Peer, GuardedConnection] = {}

    def admit(self, connection: GuardedConnection, peer: _Peer) -> bool:
        """Whether there is room for one more."""
        if self._total >= self.limits.connections or self._by_host[peer[0]] >= self.limits.per_peer:
            return False
        self._total += 1
        self._by_host[peer[0]] += 1
        self._open[peer] = connection
        return True

    def release(self, peer: _Peer) -> None:
        """One has ended that was admitted."""
        self._total -= 1
        self._by_host[peer[0]] -= 1
        if not self._by_host[peer[0]]:
            del self._by_host[peer[0]]
        self._open.pop(peer, None)

    async def answer(self, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        """Have a request answered whose head has come."""
        connection = self._find(scope.get("client"))
        if connection is None:
            await app(scope, receive, send)
            return
        connection.begin_request(has_body=any(name in _BODY_HEADERS for name, _ in scope["headers"]))

        async def receive_in_time() -> Message:
            message = await receive()
            if not message.get("more_body", False):
                connection.stop()
            return message

        try:
            await app(scope, receive_in_time, send)
        finally:
            connection.end_request()

    def _find(self, client: object) -> GuardedConnection | None:
        return self._open.get((str(client[0]), client[1])) if isinstance(client, tuple | list) and client else None


class GuardedConnection:
    """What is known of one connection: whether the rest of a request is awaited, and until when."""

    def __init__(self, transport: asyncio.Transport, limits: ConnectionLimits) -> None:
        self._transport = transport
        self._limits = limits
        self._running = 0
        self._timer: asyncio.TimerHandle | None = None

    def await_head(self) -> None:
        """Something of a head has come, or may come from now on."""
        if self._timer is None and not self._running:
            self._timer = asyncio.get_running_loop().call_later(self._limits.head_seconds, self._refuse)

    def begin_request(self, *, has_body: bool) -> None:
        """The head is whole."""
        self._running += 1
        self.stop()
        if has_body:
            self._timer = asyncio.get_running_loop().call_later(self._limits.body_seconds, self._refuse)

    def end_request(self) -> None:
        """A request has been answered. How long the next may be waited for is for the server to say."""
        self._running -= 1
        self.stop()

    def stop(self) -> None:
        """Wait for nothing."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _refuse(self) -> None:
        self._transport.write(_LATE)
        self._transport.close()


def guarded(protocol: type[asyncio.Protocol], connections: Connections) -> type[asyncio.Protocol]:
    """The protocol of a server of HTTP, with the bounds."""

    class Guarded(protocol):  # type: ignore[misc, valid-type]
        _guard: GuardedConnection | None = None
        _peer: _Peer | None = None

        def connection_made(self, transport: Any) -> None:
            name = transport.get_extra_info("peername")
            peer = (str(name[0]), int(name[1])) if name else ("", id(transport))
            guard = GuardedConnection(transport, connections.limits)
            if not connections.admit(guard, peer):
                # Closed with a request unread, the connection would be reset, and the answer lost.
                transport.write(_REFUSED)
                transport.write_eof()
                asyncio.get_running_loop().call_later(_LINGER_SECONDS, transport.close)
                return
            self._guard, self._peer = guard, peer
            super().connection_made(transport)
            guard.await_head()

        def data_received(self, data: bytes) -> None:
            if self._guard is not None:
                self._guard.await_head()
                super().data_received(data)

        def eof_received(self) -> bool | None:
            return super().eof_received() if self._guard is not None else None

        def connection_lost(self, error: Exception | None) -> None:
            if self._guard is not None and self._peer is not None:
                self._guard.stop()
                connections.release(self._peer)
                super().connection_lost(error)

        def pause_writing(self) -> None:
            if self._guard is not None:
                super().pause_writing()

        def resume_writing(self) -> None:
            if self._guard is not None:
                super().resume_writing()

    return Guarded
