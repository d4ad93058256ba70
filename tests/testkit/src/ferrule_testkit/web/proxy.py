"""A forward proxy on loopback that asks for a password, as companies have one."""

from __future__ import annotations

import select
import socket
import ssl
import threading
from base64 import b64encode
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from types import TracebackType

USER = "staff"


class Proxy:
    """Tunnels, and requests with the whole URL, for who knows the password. A context manager.

    asked: `CONNECT host:port`, or method and URL, of all that has come with the password. strangers: of all else.
    hosts: `host:port` and where that is; what is not among them is connected to as it is named.
    """

    def __init__(
        self, password: str, tls: ssl.SSLContext | None = None, hosts: dict[str, tuple[str, int]] | None = None
    ) -> None:
        self.asked: list[str] = []
        self.strangers: list[str] = []
        self.hosts = hosts or {}
        self.password = password
        self._server = _Server(self, tls)
        self.address: tuple[str, int] = ("127.0.0.1", self._server.server_address[1])
        self._scheme = "https" if tls else "http"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """As an environment variable has it, with the password."""
        return f"{self._scheme}://{USER}:{self.password}@{self.address[0]}:{self.address[1]}"

    @property
    def token(self) -> str:
        """The password as it is sent."""
        return b64encode(f"{USER}:{self.password}".encode()).decode()

    def place_of(self, authority: str) -> tuple[str, int]:
        """Where a host is."""
        host, _, port = authority.rpartition(":")
        return self.hosts.get(authority) or (host.strip("[]"), int(port))

    def close(self) -> None:
        """Stop listening."""
        self._server.closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, proxy: Proxy, tls: ssl.SSLContext | None) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.proxy = proxy
        self.closing = threading.Event()
        self._tls = tls

    def finish_request(self, request: socket.socket | tuple[bytes, socket.socket], address: object) -> None:
        if self._tls is None or not isinstance(request, socket.socket):
            super().finish_request(request, address)
            return
        with suppress(OSError), self._tls.wrap_socket(request, server_side=True) as secured:
            super().finish_request(secured, address)

    def handle_error(self, request: object, address: object) -> None:
        """Clients may go when they like."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    rbufsize = 0  # nothing is read that is for whoever is at the other end
    server: _Server

    def do_CONNECT(self) -> None:
        self.close_connection = True
        if not self._is_known():
            return
        try:
            there = socket.create_connection(self.server.proxy.place_of(self.path), 10)
        except OSError as error:
            self._show_error(error)
            return
        with there, suppress(OSError):
            self.wfile.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            self._carry(there)

    def do_GET(self) -> None:
        self.close_connection = True
        if not self._is_known():
            return
        parts = urlsplit(self.path)
        authority = parts.netloc if parts.port else f"{parts.netloc}:80"
        try:
            there = socket.create_connection(self.server.proxy.place_of(authority), 10)
        except OSError as error:
            self._show_error(error)
            return
        with there, suppress(OSError):
            target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
            kept = [f"{name}: {value}" for name, value in self.headers.items() if name.lower() not in _OWN]
            head = [f"{self.command} {target} HTTP/1.1", *kept, "Connection: close", "", ""]
            there.sendall("\r\n".join(head).encode("latin-1"))
            self._carry(there)

    do_POST = do_PUT = do_DELETE = do_HEAD = do_OPTIONS = do_GET

    def do_TRACE(self) -> None:
        """Answer with the request, as a server may."""
        if self._is_known():
            self._answer(200, self._request())

    def _is_known(self) -> bool:
        proxy, what = self.server.proxy, f"{self.command} {self.path}"
        if self.headers.get("Proxy-Authorization") == f"Basic {proxy.token}":
            proxy.asked.append(what)
            return True
        proxy.strangers.append(what)
        self._answer(407, "Say who you are.", "Proxy-Authenticate: Basic realm=proxy")
        return False

    def _show_error(self, error: OSError) -> None:
        """A page with the whole request in it, as that of a proxy that helps its administrator."""
        self._answer(502, f"{error}\n\n{self._request()}")

    def _request(self) -> str:
        return f"{self.requestline}\n{self.headers}"

    def _answer(self, status: int, text: str, *headers: str) -> None:
        self.close_connection = True
        body = text.encode()
        lines = [f"HTTP/1.1 {status} Said", *headers, f"Content-Length: {len(body)}", "Connection: close", "", ""]
        self.wfile.write("\r\n".join(lines).encode() + body)

    def _carry(self, there: socket.socket) -> None:
        here = self.connection
        while not self.server.closing.is_set():
            waiting = isinstance(here, ssl.SSLSocket) and here.pending()
            ready = [here] if waiting else select.select([here, there], [], [], 0.05)[0]
            for source in ready:
                data = source.recv(65_536)
                if not data:
                    return
                (there if source is here else here).sendall(data)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


_OWN = ("connection", "proxy-authorization", "proxy-connection", "keep-alive")
