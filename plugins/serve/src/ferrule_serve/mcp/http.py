"""Streamable HTTP: the checks before a request is looked at, and an end that lets running calls finish."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import PlainTextResponse

from ferrule.errors import ServingRefused

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from ferrule_serve.mcp.addresses import Address, Token
    from ferrule_serve.mcp.service import McpServer

PATH = "/mcp"
_LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")
_MAX_BODY_BYTES = (1 << 20) + (1 << 16)  # the arguments may have what an executable reads from stdin
_BACKLOG = 1024
_KEEP_ALIVE_SECONDS = 75  # more than proxies keep a connection, or a request could meet its closing


def security_of(address: Address, further: Sequence[str]) -> TransportSecuritySettings:
    """The values of Host and Origin that are accepted: those of loopback, of the address, and the further ones.

    further: host names, with a port or without, under which clients know the server, such as a balancer's. A page that
    has rebound its own name to this address is refused, since it sends that name.
    """
    as_browsers_send_them = map(str.lower, further)
    names = dict.fromkeys((*_LOOPBACK_NAMES, address.name, *further, *as_browsers_send_them))
    hosts = [form for name in names for form in (name, f"{name}:*")]
    origins = [f"{scheme}://{host}" for scheme in ("http", "https") for host in hosts]
    return TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=origins)


def make_application(
    server: McpServer,
    security: TransportSecuritySettings,
    token: Token | None,
    page: ASGIApp | None,
    *,
    has_sessions: bool,
) -> Application:
    """All that is served over HTTP, as ASGI. page: what is served to browsers."""
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        stateless_http=not has_sessions,
        max_request_body_size=_MAX_BODY_BYTES,
        transport_security=security,
    )
    return Application(app, token, page)


class Application:
    """The SDK's application and the page behind the token, whose standing streams can be ended."""

    def __init__(self, app: ASGIApp, token: Token | None, page: ASGIApp | None) -> None:
        self._app = app
        self._token = token
        self._page = page
        self._ending = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; 401 for one without the token."""
        if scope["type"] == "http":
            is_page = self._page is not None and scope["path"] != PATH
            if self._token is not None and not _carries(self._token, scope, by_browser=is_page):
                await (_PASSWORD_REQUIRED if is_page else _TOKEN_REQUIRED)(scope, receive, send)
                return
            if self._page is not None and is_page:
                await self._page(scope, receive, send)
                return
            if scope["method"] == "GET":
                receive = self._receive_until_end(receive)
            else:
                send = _DeferredHead(send)
        await self._app(scope, receive, send)

    def end_streams(self) -> None:
        """End the streams on which clients wait for what may never come, as if the clients had gone."""
        self._ending.set()

    def _receive_until_end(self, receive: Receive) -> Receive:
        async def received() -> Message:
            waits = [asyncio.ensure_future(wait) for wait in (receive(), self._ending.wait())]
            try:
                await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
                return waits[0].result() if waits[0].done() else {"type": "http.disconnect"}  # type: ignore[return-value]
            finally:
                for wait in waits:
                    wait.cancel()

        return received


class _DeferredHead:
    """Sends an answer's head with the first of its body: until then a balancer may send the request elsewhere."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._head: Message | None = None

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._head = message
            return
        if self._head is not None and (message.get("body") or not message.get("more_body")):
            head, self._head = self._head, None
            await self._send(head)
        if self._head is None:
            await self._send(message)


_TOKEN_REQUIRED = PlainTextResponse(
    "A bearer token is required.\n", status_code=401, headers={"WWW-Authenticate": 'Bearer realm="ferrule"'}
)
_PASSWORD_REQUIRED = PlainTextResponse(
    "The server's token is required, as the password of any user.\n",
    status_code=401,
    headers={"WWW-Authenticate": 'Basic realm="ferrule", charset="UTF-8"'},
)


def _carries(token: Token, scope: Scope, *, by_browser: bool) -> bool:
    """Whether a request has the token. by_browser: it may come as a password, for which a browser asks its user.

    A browser sends a password with all requests to a server, of any page; MCP takes none for that reason.
    """
    values = [value for name, value in scope["headers"] if name == b"authorization"]
    return len(values) == 1 and (token.is_in(values[0]) or (by_browser and token.is_password_in(values[0])))


def listen(address: Address) -> socket.socket:
    """A socket that listens there. Raises ServingRefused where it cannot."""
    try:
        family, kind, protocol, _, where = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)[0]
        # With its protocol: else asyncio leaves Nagle's algorithm on, and answers wait 40 ms for an acknowledgement.
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(where)
        listener.listen(_BACKLOG)
    except OSError as error:
        raise ServingRefused(f"{address.name}:{address.port} cannot be listened at: {error.strerror}.") from None
    return listener


class HttpServer(uvicorn.Server):
    """uvicorn, which leaves signals to its caller.

    grace: seconds that running requests get to finish once it stops.
    """

    def __init__(self, app: Application, *, grace: float, on_stop: Callable[[], None]) -> None:
        config = uvicorn.Config(
            app,
            log_config=None,
            log_level="error",
            access_log=False,
            server_header=False,
            ws="none",
            lifespan="on",
            timeout_keep_alive=_KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=max(1, int(grace)),
        )
        super().__init__(config)
        self._app = app
        self._on_stop = on_stop

    def stop(self) -> None:
        """Take no new connection, end the streams that only wait, let the rest finish; at the second time, end all."""
        self.force_exit = self.should_exit
        self.should_exit = True
        self._on_stop()
        self._app.end_streams()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the signals alone."""
        yield
