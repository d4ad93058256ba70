"""A connection to the proxy itself, which is told the user and the password."""

from __future__ import annotations

import os
import ssl
from typing import TYPE_CHECKING, TypeVar

import h11

from ferrule.confinement.proxies.concealment import login_header
from ferrule.confinement.proxies.refusal import BAD_GATEWAY, Refusal

if TYPE_CHECKING:
    from collections.abc import Callable
    from socket import socket

    from ferrule.text.proxy_address import ProxyAddress

CHUNK_BYTES = 1 << 16
MAX_HEAD_BYTES = 1 << 16
_CONNECT_SECONDS = 10.0
_WANTS_LOGIN = 407
_SYSTEM_CERTIFICATES = "/etc/ssl/certs"

_Result = TypeVar("_Result")
Headers = list[tuple[bytes, bytes]]


class Upstream:
    """One request to the proxy. variable: by which it is named, for messages. seconds: that an answer may take."""

    def __init__(self, proxy: ProxyAddress, variable: str, seconds: float) -> None:
        """Connect. Raises Refusal."""
        self._variable = variable
        self._headers: Headers = [(b"Proxy-Authorization", login_header(proxy.login))] if proxy.login else []
        self._http = h11.Connection(h11.CLIENT, max_incomplete_event_size=MAX_HEAD_BYTES)
        try:
            self.socket = _connect(proxy)
        except OSError as error:
            reason = "TLS failed" if isinstance(error, ssl.SSLError) else os.strerror(error.errno or 0)
            raise self.failure(f"cannot be reached ({reason})" if error.errno else "cannot be reached") from None
        self.socket.settimeout(seconds)

    def open_tunnel(self, authority: bytes) -> bytes:
        """Have it connect to HOST:PORT, and return what has come from there already. Raises Refusal."""
        self.send_head(b"CONNECT", authority, [(b"Host", authority)])
        self.send(h11.EndOfMessage())
        answer = self.receive_head()
        if not 200 <= answer.status_code < 300:
            raise self.failure(f"refused to connect (HTTP {answer.status_code})")
        return bytes(self._http.trailing_data[0])

    def send_head(self, method: bytes, target: bytes, headers: Headers) -> None:
        """Send the head of a request. Raises Refusal."""
        self.send(h11.Request(method=method, target=target, headers=[*headers, *self._headers]))

    def send(self, event: h11.Event) -> None:
        """Send a part of a request. Raises Refusal."""
        data = self._tried(lambda: self._http.send(event))
        if data:
            self._tried(lambda: self.socket.sendall(data))

    def receive_head(self) -> h11.Response:
        """The head of the answer, without those that come before it. Raises Refusal."""
        event = self.receive()
        while isinstance(event, h11.InformationalResponse):
            event = self.receive()
        if not isinstance(event, h11.Response):
            raise self.failure("ended the connection")
        if event.status_code == _WANTS_LOGIN:
            raise self.failure("does not accept its user and password (HTTP 407)")
        return event

    def receive(self) -> h11.Event | type[h11.PAUSED]:
        """The next part of the answer. Raises Refusal."""
        while (event := self._tried(self._http.next_event)) is h11.NEED_DATA:
            self._http.receive_data(self._tried(lambda: self.socket.recv(CHUNK_BYTES)))
        return event  # type: ignore[return-value] # no other of its marks is left

    def failure(self, what: str) -> Refusal:
        """The proxy has failed. what: the end of a sentence."""
        return Refusal(BAD_GATEWAY, f"The proxy that {self._variable} names {what}")

    def close(self) -> None:
        """Close the connection."""
        self.socket.close()

    def _tried(self, act: Callable[[], _Result]) -> _Result:
        try:
            return act()
        except h11.ProtocolError:
            raise self.failure("does not speak HTTP") from None
        except TimeoutError:
            raise self.failure("does not answer in time") from None
        except OSError:
            raise self.failure("ended the connection") from None


def _connect(proxy: ProxyAddress) -> socket:
    from socket import create_connection

    plain = create_connection((proxy.host, proxy.port), _CONNECT_SECONDS)
    if proxy.scheme != "https":
        return plain
    try:
        return _tls_context().wrap_socket(plain, server_hostname=proxy.host)
    except BaseException:
        plain.close()
        raise


def _tls_context() -> ssl.SSLContext:
    """What SSL_CERT_FILE and SSL_CERT_DIR name, else the system's authorities."""
    context = ssl.create_default_context()
    paths = ssl.get_default_verify_paths()
    if not (paths.cafile or paths.capath) and os.path.isdir(_SYSTEM_CERTIFICATES):
        context.load_verify_locations(capath=_SYSTEM_CERTIFICATES)
    return context
