"""The answer of a login by a redirect to this machine: a server on loopback that takes one request (RFC 8252, 7.3)."""

from __future__ import annotations

import hmac
import queue
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

from ferrule import ToolError
from ferrule_mcp.remote.oauth.answer import Answer, find_state, read_answer

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

_HOST = "127.0.0.1"
_PATH = "/callback"
_SOCKET_SECONDS = 10.0


class LoopbackRedirect:
    """Listens from when it is entered. A request with another state is refused, and changes nothing.

    Args:
        show_address: shows the user where the login begins, and opens it where it can.
        port: to listen on; 0 for any.
    """

    def __init__(self, show_address: Callable[[str], None], port: int = 0) -> None:
        self._show_address = show_address
        self._port = port

    def __enter__(self) -> Self:
        """Raises ToolError LOGIN_FAILED where the port is taken."""
        try:
            self._server = _Listener((_HOST, self._port), _Handler)
        except OSError as error:
            raise ToolError(
                "LOGIN_FAILED",
                f"The port {self._port} cannot be listened on: {error.strerror}.",
                hint="Use another port, or paste the address of the answer with --paste.",
            ) from None
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def uri(self) -> str:
        """See `Redirect`."""
        return f"http://{_HOST}:{self._server.server_port}{_PATH}"

    def show(self, url: str) -> None:
        """See `Redirect`."""
        self._server.state = find_state(url)
        self._show_address(url)

    def wait(self, seconds: float) -> Answer:
        """See `Redirect`."""
        try:
            return self._server.answers.get(timeout=seconds)
        except queue.Empty:
            strange = " A request came that belongs to another login." if self._server.strangers else ""
            raise ToolError(
                "TIMEOUT",
                f"Nobody has logged in within {seconds:g} seconds.{strange}",
                hint="Log in again, or use --paste where the browser is on another machine.",
            ) from None


class _Listener(ThreadingHTTPServer):
    """state: that of the login; "" before it has begun. strangers: how many requests had another one."""

    daemon_threads = True
    allow_reuse_address = False

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        super().__init__(address, handler)
        self.state = ""
        self.strangers = 0
        self.answers: queue.SimpleQueue[Answer] = queue.SimpleQueue()


class _Handler(BaseHTTPRequestHandler):
    server: _Listener
    timeout = _SOCKET_SECONDS

    def do_GET(self) -> None:
        asked = urlsplit(self.path)
        answer = read_answer(asked.query)
        if asked.path != _PATH:
            self._say(404, "There is nothing here.")
        elif not self.server.state or not hmac.compare_digest(answer.state.encode(), self.server.state.encode()):
            self.server.strangers += 1
            self._say(400, "This is not the answer to the login that is waited for.")
        else:
            failed = "The login has failed. The terminal says why."
            self._say(200, failed if answer.error else "You are logged in. This page can be closed.")
            self.server.answers.put(answer)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: a request holds the code."""

    def _say(self, status: int, text: str) -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body)
