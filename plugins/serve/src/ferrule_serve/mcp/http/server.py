"""Streamable HTTP: the checks before a request is looked at, and an end that lets running calls finish."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import uvicorn
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import PlainTextResponse
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from ferrule.errors import ServeError
from ferrule_serve.mcp.http.connections import Connections, guarded
from ferrule_serve.telemetry.health import OPEN_PATHS

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from ferrule_serve.mcp.http.addresses import Address, Token
    from ferrule_serve.mcp.http.streamable_http import StreamableHTTP
    from ferrule_serve.telemetry.health import Operations

PATH = "/mcp"
MAX_BODY_BYTES = (1 << 20) + (1 << 16)  # the arguments may have what an executable reads from stdin
_BACKLOG = 1024
# What a client in a browser uses, and reads of an answer. Tools name headers of their own, so a page may send any.
_METHODS = ("GET", "POST", "DELETE")
_SHOWN = ("Mcp-Session-Id", "MCP-Protocol-Version", "WWW-Authenticate")
_KEEP_ALIVE_SECONDS = 75  # more than proxies keep a connection, or a request could meet its closing


class Application:
    """What is served over HTTP: MCP and the page behind the token, and what those who run the server ask.

    Args:
        page: what is served to browsers.
        origins: of other servers' pages that may call tools from a browser.
    """

    def __init__(
        self,
        mcp: StreamableHTTP,
        token: Token | None,
        page: ASGIApp | None,
        operations: Operations,
        connections: Connections,
        origins: Sequence[str] = (),
    ) -> None:
        self._mcp = mcp
        self._token = token
        self._page = page
        self._operations = operations
        self._connections = connections
        self._answer_browsers: ASGIApp = self._answer
        if origins:
            self._answer_browsers = CORSMiddleware(
                self._answer, allow_origins=origins, allow_methods=_METHODS, allow_headers=("*",), expose_headers=_SHOWN
            )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; 401 for one without the token."""
        # httptools leaves the blanks after a value, which are no part of it.
        scope["headers"] = [(name, value.strip(b" \t")) for name, value in scope["headers"]]
        try:
            answer = self._answer_browsers if scope["path"] == PATH else self._answer
            await self._connections.answer(answer, scope, receive, send)
        except asyncio.CancelledError:
            return  # the server ends; uvicorn would print where the request was

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        is_operation = path in self._operations.paths
        is_page = self._page is not None and path != PATH and not is_operation
        is_open = path in OPEN_PATHS or self._token is None
        if not is_open and not _carries(self._token, scope, by_browser=is_page):
            await (_PASSWORD_REQUIRED if is_page else _TOKEN_REQUIRED)(scope, receive, send)
        elif is_operation:
            await self._operations(scope, receive, send)
        elif path == PATH:
            await self._mcp(scope, receive, send)
        else:
            await (self._page or _NOT_FOUND)(scope, receive, send)


_NOT_FOUND = PlainTextResponse("Not Found", status_code=404)
_TOKEN_REQUIRED = PlainTextResponse(
    "A bearer token is required.\n", status_code=401, headers={"WWW-Authenticate": 'Bearer realm="ferrule"'}
)
_PASSWORD_REQUIRED = PlainTextResponse(
    "The server's token is required, as the password of any user.\n",
    status_code=401,
    headers={"WWW-Authenticate": 'Basic realm="ferrule", charset="UTF-8"'},
)


def _carries(token: Token | None, scope: Scope, *, by_browser: bool) -> bool:
    """Whether a request has the token, where one is needed.

    by_browser: it may come as a password, for which a browser asks its user.

    A browser sends a password with all requests to a server, of any page; MCP takes none for that reason.
    """
    if token is None:
        return True
    values = [value for name, value in scope["headers"] if name == b"authorization"]
    return len(values) == 1 and (token.is_in(values[0]) or (by_browser and token.is_password_in(values[0])))


def listen(address: Address) -> socket.socket:
    """A socket that listens there. Raises ServeError where it cannot."""
    try:
        family, kind, protocol, _, where = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)[0]
        # With its protocol: else asyncio leaves Nagle's algorithm on, and answers wait 40 ms for an acknowledgement.
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(where)
        listener.listen(_BACKLOG)
    except OSError as error:
        raise ServeError(f"{address.name}:{address.port} cannot be listened at: {error.strerror}.") from None
    return listener


class HttpServer(uvicorn.Server):
    """uvicorn, which leaves signals to its caller.

    Args:
        grace: seconds that running requests get to finish once it stops.
    """

    def __init__(
        self, app: Application, connections: Connections, *, grace: float, on_stop: Callable[[], None]
    ) -> None:
        config = uvicorn.Config(
            app,
            http=guarded(HttpToolsProtocol, connections),
            log_config=None,
            log_level="error",
            access_log=False,
            server_header=False,
            proxy_headers=False,  # a connection is known by the address that it really comes from
            ws="none",
            lifespan="off",
            timeout_keep_alive=_KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=max(1, int(grace)),
        )
        super().__init__(config)
        self._on_stop = on_stop

    def stop(self) -> None:
        """Take no new connection, end the streams that only wait, let the rest finish; at the second time, end all."""
        self.force_exit = self.should_exit
        self.should_exit = True
        self._on_stop()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the signals alone."""
        yield
