"""Real servers on loopback: pages, pages that misbehave, and a proxy.

    with Server() as server:
        server.page("/", "<h1>Hello</h1>")
        server.route("/slow", lambda exchange: exchange.drip(b"x"))
        fetch(server.url)

Every server notes the requests that it gets, and ends all connections when it is closed.
"""

from __future__ import annotations

import select
import socket
import ssl
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, NamedTuple, Self

from ferrule.text import strict_json

if TYPE_CHECKING:
    from types import TracebackType

HOST = "127.0.0.1"
HTML = "text/html; charset=utf-8"
JSON_TYPE = "application/json"


class Request(NamedTuple):
    """What a client asked. target: as its first line has it. headers: their names in small letters.

    body: empty where the route has not read it; those of `page` do.
    """

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes = b""


class Exchange(BaseHTTPRequestHandler):
    """One connection, seen from a route."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else a body that follows its headers waits for the client's delayed ACK: 40 ms
    server: _Sockets

    def do_GET(self) -> None:
        self._note()
        with suppress(OSError):
            self.server.route_of(self.path)(self)

    do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = do_GET

    def do_CONNECT(self) -> None:
        """Be a proxy: a tunnel to wherever the client wants, which is always a server of the test."""
        self._note()
        self.close_connection = True
        if not self.server.tunnel_to:
            self.send_error(403)
            return
        with suppress(OSError), socket.create_connection(self.server.tunnel_to) as there:
            self.send_response(200)
            self.end_headers()
            self._relay(there)

    def answer(
        self,
        body: bytes,
        content_type: str = HTML,
        *,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Send a whole answer. `headers` may hold another Content-Length, or "" to leave one out."""
        everything = {"Content-Type": content_type, "Content-Length": str(len(body)), **(headers or {})}
        self.send_response(status)
        for name, value in everything.items():
            if value:
                self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def read_body(self) -> bytes:
        """Read the body of the request, once, and note it with the request."""
        if "chunked" in self.headers.get("Transfer-Encoding", "").lower():
            body = b"".join(iter(self._read_chunk, b""))
        else:
            length = self.headers.get("Content-Length", "")
            body = self.rfile.read(int(length)) if length.isdecimal() else b""
        if body:
            noted = next(n for n, one in enumerate(self.server.requests) if one is self._noted)
            self.server.requests[noted] = self._noted._replace(body=body)
        return body

    def send(self, data: bytes) -> None:
        """Send bytes that need not be HTTP."""
        self.wfile.write(data)
        self.wfile.flush()

    def drip(self, data: bytes, every: float = 0.02) -> None:
        """Send bytes over and over, one at a time, until the server is closed or the client has gone."""
        self.close_connection = True
        while True:
            for byte in data:
                if self.server.closing.wait(every):
                    return
                self.send(bytes([byte]))

    def hang(self) -> None:
        """Send nothing until the server is closed."""
        self.close_connection = True
        self.server.closing.wait()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def _note(self) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        self._noted = Request(self.command, self.path, headers)
        self.server.requests.append(self._noted)

    def _read_chunk(self) -> bytes:
        line = self.rfile.readline().partition(b";")[0].strip()
        data = self.rfile.read(int(line or b"0", 16))
        self.rfile.readline()
        return data

    def _relay(self, there: socket.socket) -> None:
        here = self.connection
        while not self.server.closing.is_set():
            waiting = isinstance(here, ssl.SSLSocket) and here.pending()
            ready = [here] if waiting else select.select([here, there], [], [], 0.05)[0]
            for source in ready:
                data = source.recv(65_536)
                if not data:
                    return
                (there if source is here else here).sendall(data)


Route = Callable[[Exchange], None]


class _Sockets(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = True
    request_queue_size = 128  # many clients at once are none that have to try again a second later

    def __init__(self, tls: ssl.SSLContext | None, host: str) -> None:
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        super().__init__((host, 0), Exchange)
        self.routes: dict[str, Route] = {}
        self.requests: list[Request] = []
        self.closing = threading.Event()
        self.tunnel_to: tuple[str, int] | None = None
        self._tls = tls

    def route_of(self, path: str) -> Route:
        found = (self.routes.get(one) for one in (path, path.partition("?")[0], "*"))
        return next(filter(None, found), lambda exchange: exchange.send_error(404))

    def finish_request(self, request: socket.socket | tuple[bytes, socket.socket], address: object) -> None:
        """Do the handshake in the thread of the connection, so that one client cannot keep the others out."""
        if self._tls is None or not isinstance(request, socket.socket):
            super().finish_request(request, address)
            return
        with suppress(OSError), self._tls.wrap_socket(request, server_side=True) as secured:
            super().finish_request(secured, address)

    def handle_error(self, request: object, address: object) -> None:
        """Clients may go when they like."""


class Server:
    """A server that listens as long as the `with` block lasts. tls: for https. host: its IP address."""

    def __init__(self, tls: ssl.SSLContext | None = None, host: str = HOST) -> None:
        self._sockets = _Sockets(tls, host)
        self._thread = threading.Thread(target=self._sockets.serve_forever, args=(0.02,), daemon=True)
        self.address: tuple[str, int] = (host, self._sockets.server_address[1])
        literal = f"[{host}]" if ":" in host else host
        self.url = f"{'https' if tls else 'http'}://{literal}:{self.address[1]}"

    @property
    def requests(self) -> list[Request]:
        """All requests so far."""
        return self._sockets.requests

    def route(self, path: str, answer: Route) -> str:
        """Answer a path, with any query if it has none; "*" stands for all that have no route. Returns the URL."""
        self._sockets.routes[path] = answer
        return self.url + path

    def page(
        self,
        path: str,
        body: str | bytes,
        content_type: str = HTML,
        *,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
    ) -> str:
        """Answer a path with a page. Returns the URL."""
        data = body.encode() if isinstance(body, str) else body

        def answer(exchange: Exchange) -> None:
            exchange.read_body()
            exchange.answer(data, content_type, status=status, headers=headers)

        return self.route(path, answer)

    def document(self, path: str, document: object, *, status: int = 200) -> str:
        """Answer a path with JSON. Returns the URL."""
        return self.page(path, strict_json.dumps(document), JSON_TYPE, status=status)

    def redirect(self, path: str, target: str, status: int = 302) -> str:
        """Answer a path with a redirect. Returns the URL."""
        return self.page(path, b"elsewhere", status=status, headers={"Location": target})

    def tunnel(self, server: Server) -> None:
        """As a proxy, connect everybody to this server, whatever host they ask for."""
        self._sockets.tunnel_to = server.address

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._sockets.closing.set()
        self._sockets.shutdown()
        self._thread.join()
        self._sockets.server_close()


def refused_port() -> int:
    """A port on which nobody listens."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port
