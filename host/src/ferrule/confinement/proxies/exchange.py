"""One connection of a tool to the relay: what it asks for is judged, and then passed on to the proxy."""

from __future__ import annotations

from contextlib import suppress
from socket import SHUT_WR
from time import monotonic
from typing import TYPE_CHECKING

import h11

from ferrule.confinement.policy import RELAY_REFUSAL
from ferrule.confinement.proxies.concealment import Concealment, conceal, forms_of
from ferrule.confinement.proxies.host_judge import plain_host
from ferrule.confinement.proxies.refusal import (
    BAD_GATEWAY,
    BAD_REQUEST,
    FORBIDDEN,
    NOT_ALLOWED,
    Refusal,
)
from ferrule.confinement.proxies.tunnel import carry
from ferrule.confinement.proxies.upstream import CHUNK_BYTES, MAX_HEAD_BYTES, Upstream
from ferrule.text.proxy_address import parse_proxy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from socket import socket

    from ferrule.confinement.proxies.host_judge import HostJudge
    from ferrule.confinement.proxies.upstream import Headers

_HTTP_PORT, _MAX_PORT = 80, 65_535
_LINGER_SECONDS, _LINGER_BYTES = 1.0, 1 << 20
# Of one connection, and none of the next one. What is asked of the proxy itself is the relay's to say: `Max-Forwards`
# would have it answer with the request as it has got it.
_OF_ONE_CONNECTION = frozenset((
    b"connection", b"expect", b"host", b"keep-alive", b"max-forwards", b"proxy-authenticate", b"proxy-authorization",
    b"proxy-authentication-info", b"proxy-connection", b"te", b"trailer", b"upgrade",
))  # fmt: skip


class Exchange:
    """One request of a tool, and what the proxy answers.

    Args:
        variable, value: of the environment, which names the proxy.
        refuse: is called with a host that is not allowed.
        seconds: that either end may take to say something more.
    """

    def __init__(
        self,
        client: socket,
        variable: str,
        value: str,
        judge: HostJudge,
        refuse: Callable[[str], None],
        seconds: float,
    ) -> None:
        self._client = client
        self._variable = variable
        self._proxy = parse_proxy(value)
        self._forms = forms_of(self._proxy.login if self._proxy else None)
        self._judge = judge
        self._refuse = refuse
        self._seconds = seconds
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=MAX_HEAD_BYTES)

    def run(self) -> None:
        """Serve the connection until it ends."""
        with self._client, suppress(OSError, h11.ProtocolError):
            self._client.settimeout(self._seconds)
            while self._serve_request():
                self._http.start_next_cycle()

    def _serve_request(self) -> bool:
        """Whether another request may follow."""
        try:
            event = self._receive()
            if not isinstance(event, h11.Request):
                return False
            if event.method == b"CONNECT":
                self._carry_tunnel(event)
                return False
            self._pass_on(event)
        except h11.RemoteProtocolError as error:
            self._answer_refusal(Refusal(error.error_status_hint, "This is no request to a proxy"))
            return False
        except Refusal as refusal:
            self._answer_refusal(refusal)
            return False
        return self._http.our_state is h11.DONE and self._http.their_state is h11.DONE

    def _carry_tunnel(self, request: h11.Request) -> None:
        authority = self._judged(request.target, None)
        self._receive()  # the end of the request, which has no body
        upstream = self._connect()
        try:
            came = upstream.open_tunnel(authority)
            self._send(h11.Response(status_code=200, headers=[], reason=b"Connection established"))
            carry(self._client, upstream.socket, came, bytes(self._http.trailing_data[0]))
        finally:
            upstream.close()

    def _pass_on(self, request: h11.Request) -> None:
        if request.method == b"TRACE":  # whose answer is the request, with what it says to the proxy
            raise Refusal(NOT_ALLOWED, "TRACE is not passed on")
        scheme, found, rest = request.target.partition(b"://")
        if scheme.lower() != b"http" or not found:
            raise Refusal(BAD_REQUEST, "This is no request to a proxy")
        end = min((at for at in map(rest.find, (b"/", b"?", b"#")) if at >= 0), default=len(rest))
        authority = self._judged(rest[:end], _HTTP_PORT)
        path = rest[end:] if rest[end : end + 1] == b"/" else b"/" + rest[end:]
        upstream = self._connect()
        try:
            headers = [(b"Host", authority), *_for_others(request.headers), (b"Connection", b"close")]
            upstream.send_head(request.method, b"http://" + authority + path, headers)
            with suppress(Refusal):  # it may have answered before it has read all of the body
                self._pass_body(upstream)
            self._pass_answer(upstream)
        finally:
            upstream.close()

    def _pass_body(self, upstream: Upstream) -> None:
        if self._http.they_are_waiting_for_100_continue:
            self._send(h11.InformationalResponse(status_code=100, headers=[]))
        while isinstance(event := self._receive(), h11.Data | h11.EndOfMessage):
            if isinstance(event, h11.EndOfMessage):
                upstream.send(h11.EndOfMessage())
                return
            upstream.send(h11.Data(data=bytes(event.data)))

    def _pass_answer(self, upstream: Upstream) -> None:
        answer = upstream.receive_head()
        headers = [(name, conceal(value, self._forms)) for name, value in _for_others(answer.headers)]
        reason = conceal(bytes(answer.reason), self._forms)
        self._send(h11.Response(status_code=answer.status_code, headers=headers, reason=reason))
        concealed = Concealment(self._forms)
        try:
            while isinstance(event := upstream.receive(), h11.Data):
                self._send_data(concealed.feed(bytes(event.data)))
        except Refusal:  # too late to say so: the end of the connection says it
            return
        self._send_data(concealed.end())
        self._send(h11.EndOfMessage())

    def _judged(self, authority: bytes, default_port: int | None) -> bytes:
        """HOST:PORT as it is passed on. Raises Refusal."""
        host, port = _split(authority, default_port)
        written = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        if not self._judge.allows(host, port):
            self._refuse(written)
            raise Refusal(FORBIDDEN, f"The permissions of this tool do not have {written}", RELAY_REFUSAL)
        return (written.removesuffix(f":{default_port}") if default_port else written).encode("ascii")

    def _connect(self) -> Upstream:
        if self._proxy is None:
            raise Refusal(BAD_GATEWAY, f"{self._variable} names no http or https proxy")
        return Upstream(self._proxy, self._variable, self._seconds)

    def _receive(self) -> h11.Event | type[h11.PAUSED]:
        while (event := self._http.next_event()) is h11.NEED_DATA:
            self._http.receive_data(self._client.recv(CHUNK_BYTES))
        return event  # type: ignore[return-value] # no other of its marks is left

    def _send(self, event: h11.Event) -> None:
        data = self._http.send(event)
        if data:
            self._client.sendall(data)

    def _send_data(self, data: bytes) -> None:
        if data:
            self._send(h11.Data(data=data))

    def _answer_refusal(self, refusal: Refusal) -> None:
        if self._http.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            return
        body = f"{refusal.text}.\n".encode("ascii", "replace")
        headers = [
            (b"Content-Type", b"text/plain"),
            (b"Content-Length", str(len(body)).encode()),
            (b"Connection", b"close"),
        ]
        reason = refusal.reason.encode("ascii", "replace")
        self._send(h11.Response(status_code=refusal.status, headers=headers, reason=reason))
        self._send(h11.Data(data=body))
        self._send(h11.EndOfMessage())
        self._linger()

    def _linger(self) -> None:
        """Read what is still sent, for a moment: with it unread, the kernel would take the answer back."""
        self._client.shutdown(SHUT_WR)
        limit, left = monotonic() + _LINGER_SECONDS, _LINGER_BYTES
        while left > 0 and (seconds := limit - monotonic()) > 0:
            self._client.settimeout(seconds)
            data = self._client.recv(CHUNK_BYTES)
            if not data:
                return
            left -= len(data)


def _split(authority: bytes, default_port: int | None) -> tuple[str, int]:
    text = authority.decode("latin-1")
    host, colon, port = text.rpartition(":")
    if not colon or port.endswith("]"):
        host, port = text, ""
    number = int(port) if port.isascii() and port.isdigit() and len(port) < 6 else default_port if not port else None
    name = plain_host(host)
    if name is None or number is None or not 0 < number <= _MAX_PORT:
        raise Refusal(BAD_REQUEST, "This names no host and port")
    return name, number


def _for_others(headers: Iterable[tuple[bytes, bytes]]) -> Headers:
    """The headers that are not for one connection alone."""
    every = [(bytes(name), bytes(value)) for name, value in headers]
    named = {one.strip().lower() for name, value in every if name == b"connection" for one in value.split(b",")}
    # What says how long a body is, no client can have left out by naming it. Of two, the one counts that was gone by:
    # where one end read a body and the other one a further request, nobody would have judged that.
    named -= {b"content-length", b"transfer-encoding"}
    if any(name == b"transfer-encoding" for name, _ in every):
        named.add(b"content-length")
    return [(name, value) for name, value in every if name not in _OF_ONE_CONNECTION and name not in named]
