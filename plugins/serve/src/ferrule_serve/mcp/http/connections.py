"""A bound on connections, in total and by peer, and on the time and the bytes in which a request has to come."""

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
_TOO_LONG = b"HTTP/1.1 431 Request Header Fields Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
MAX_HEAD_BYTES = 64 << 10  # of the first line and the headers of a request, or of what comes in their place
MAX_RAW_BODY_BYTES = 8 << 20  # of a body as it is sent, whose chunks may be single bytes
_SLICE_BYTES = 16 << 10  # that are parsed before what they are is looked at
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
        return cls(**{field: value if field.endswith("_seconds") else int(value) for field, value in good.items()})  # type: ignore[arg-type] # int or float by the field's name


class Connections:
    """Those that are open. The application says when a request begins and ends."""

    def __init__(self, limits: ConnectionLimits) -> None:
        self.limits = limits
        self._total = 0
        self._by_host: Counter[str] = Counter()
        self._open: dict[_Peer, GuardedConnection] = {}

    def admit(self, connection: GuardedConnection, peer: _Peer) -> bool:
        """Whether there is room for one more, where need be instead of the one that has been idle for longest."""
        is_full = self._total >= self.limits.connections
        if self._by_host[peer[0]] >= self.limits.per_peer:
            if not self._drop_idle(peer[0]):
                return False
        elif is_full and not self._drop_idle(None):
            return False
        self._total += 1
        self._by_host[peer[0]] += 1
        self._open[peer] = connection
        return True

    def _drop_idle(self, host: str | None) -> bool:
        """End the connection without a request that has been so for longest, of a host or of any; whether there is one.

        It may have sent half a head, or keep open what it needs no more: a peer that does so takes no one's place.
        """
        idle = [(one.idle_since, peer) for peer, one in self._open.items() if one.is_idle and host in (None, peer[0])]
        if not idle:
            return False
        peer = min(idle)[1]
        connection = self._open[peer]
        self.release(connection, peer)
        connection.drop()
        return True

    def release(self, connection: GuardedConnection, peer: _Peer) -> None:
        """One has ended that was admitted."""
        if self._open.get(peer) is not connection:
            return
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
        self.idle_since = asyncio.get_running_loop().time()
        self._timer: asyncio.TimerHandle | None = None

    @property
    def is_idle(self) -> bool:
        """Whether no request of it is being answered."""
        return not self._running

    def drop(self) -> None:
        """End it, for the sake of another one."""
        self.stop()
        self._transport.abort()

    def refuse_size(self) -> None:
        """End it: what it sends in one request is too long."""
        self.stop()
        self._transport.write(_TOO_LONG)
        self._transport.close()

    @property
    def is_closing(self) -> bool:
        """Whether nothing that comes counts any more."""
        return self._transport.is_closing()

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
        self.idle_since = asyncio.get_running_loop().time()
        self.stop()

    def stop(self) -> None:
        """Wait for nothing."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _refuse(self) -> None:
        self._transport.write(_LATE)
        self._transport.close()


# Long: a class whose base is chosen at run time can only be made inside of a function.
def guarded(protocol: type[asyncio.Protocol], connections: Connections) -> type[asyncio.Protocol]:
    """The protocol of a server of HTTP, with the bounds."""

    class Guarded(protocol):  # type: ignore[misc, valid-type] # its base is chosen at run time
        _guard: GuardedConnection | None = None
        _peer: _Peer | None = None
        _is_body = _has_turned = False
        _size = 0  # bytes of the head, or of the body

        def on_headers_complete(self) -> None:
            self._is_body, self._has_turned = True, True
            if self._guard is not None:
                self._guard.idle_since = asyncio.get_running_loop().time()
            super().on_headers_complete()

        def on_message_complete(self) -> None:
            self._is_body, self._has_turned = False, True
            super().on_message_complete()

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
                for at in range(0, len(data), _SLICE_BYTES):
                    self._parse(self._guard, data[at : at + _SLICE_BYTES])

        def _parse(self, guard: GuardedConnection, data: bytes) -> None:
            if guard.is_closing:
                return
            self._has_turned = False
            super().data_received(data)
            self._size = len(data) if self._has_turned else self._size + len(data)
            if self._size > (MAX_RAW_BODY_BYTES if self._is_body else MAX_HEAD_BYTES) and not guard.is_closing:
                guard.refuse_size()

        def eof_received(self) -> bool | None:
            return super().eof_received() if self._guard is not None else None

        def connection_lost(self, error: Exception | None) -> None:
            if self._guard is not None and self._peer is not None:
                self._guard.stop()
                connections.release(self._guard, self._peer)
                super().connection_lost(error)

        def pause_writing(self) -> None:
            if self._guard is not None:
                super().pause_writing()

        def resume_writing(self) -> None:
            if self._guard is not None:
                super().resume_writing()

    return Guarded
