"""What the relay asks for while it records: the host that the tool wanted to ask."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ferrule.admin.author_interface import Connections, resolve
from ferrule.http import decoder, parse

if TYPE_CHECKING:
    from ferrule_dev.testing.http_server import Exchange

_OF_THE_CONNECTION = frozenset(("accept-encoding", "connection", "keep-alive", "te", "transfer-encoding", "upgrade"))
_ENCODING = (b"Accept-Encoding", b"gzip")  # what can be decoded, so that keys are found in it


class Asked(NamedTuple):
    """What a host answered. body: without its content encoding."""

    status: int
    reason: str
    headers: list[tuple[str, str]]
    body: bytes


def ask(exchange: Exchange, content: bytes, deadline: float, max_bytes: int) -> Asked:
    """Send the request with its body to where its first line says.

    Raises what httpcore raises, UnusableURL, BodyUnreadable, and ValueError where the body is larger than `max_bytes`.
    """
    headers = [(name.encode(), value.encode("latin-1")) for name, value in exchange.headers.items() if _is_kept(name)]
    if content and "Content-Length" not in exchange.headers:
        headers.append((b"Content-Length", str(len(content)).encode()))
    connections = Connections(deadline, resolve)
    try:
        answer = connections.send_past_relay(
            exchange.command, parse(exchange.path), [*headers, _ENCODING], content or None
        )
        pairs = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in answer.headers]
        encoding = ", ".join(value for name, value in pairs if name.lower() == "content-encoding")
        decode = decoder("" if exchange.command == "HEAD" else encoding)
        body = bytearray()
        for chunk in answer.iter_stream():
            body += decode.feed(chunk, max_bytes + 1 - len(body))
            if len(body) > max_bytes:
                raise ValueError(f"its answer is larger than {max_bytes:,} bytes")
        reason = answer.extensions.get("reason_phrase", b"").decode("latin-1")
        return Asked(answer.status, reason, pairs, bytes(body))
    finally:
        connections.close()


def _is_kept(header: str) -> bool:
    return header.lower() not in _OF_THE_CONNECTION
