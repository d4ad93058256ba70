"""What tests of HTTP clients share: a guard, raw answers, slow handshakes, and one request."""

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import pytest
import trustme

from ferrule.errors import ToolError
from ferrule.http import Client, RequestFailed
from ferrule_dev.testing import Exchange

HANDSHAKES = [b"", b"\x16\x03\x03\x40\x00\x02\x00\x3f\xfc"]  # no beginning, and one that goes on and on
LONG = 60.0
SHORT = 0.4


def server_context(authority: trustme.CA) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1", "secure.example").configure_cert(context)
    return context


def send_raw(data: bytes) -> Callable[[Exchange], None]:
    """A route that sends bytes and closes the connection."""

    def answer(exchange: Exchange) -> None:
        exchange.close_connection = True
        exchange.send(data)

    return answer


class Judge:
    """A guard that notes what it is asked, and refuses whatever is at an address that it is given."""

    def __init__(self, *refused: str) -> None:
        self.asked: list[tuple[str, list[str]]] = []
        self._refused = set(refused)

    def __call__(self, host: str, addresses: Sequence[str]) -> None:
        self.asked.append((host, list(addresses)))
        if self._refused.intersection(addresses):
            raise ToolError("INVALID_URL", f"{host} is refused.")


@contextmanager
def endless_handshake(begun: bytes) -> Iterator[str]:
    """The URL of a server that begins a handshake, if `begun` holds a beginning, and never ends it."""
    closing = threading.Event()

    def shake_hands_for_ever(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection:
            connection.sendall(begun)
            while not closing.wait(0.02):
                try:
                    connection.sendall(b"\0" if begun else b"")
                except OSError:
                    return

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=shake_hands_for_ever, args=(listener,))
        thread.start()
        try:
            yield f"https://127.0.0.1:{listener.getsockname()[1]}/"
        finally:
            closing.set()
            thread.join()


def get_body(url: str, *, seconds: float = LONG, limit: int = 10 << 20) -> bytes:
    """The body of a page."""
    with Client(time.monotonic() + seconds) as client, client.open("GET", url) as response:
        return response.read(limit)


def reason_of_failure(url: str, *, seconds: float = LONG) -> str:
    """Why a page cannot be had."""
    with pytest.raises(RequestFailed) as failed:
        get_body(url, seconds=seconds)
    return failed.value.reason
