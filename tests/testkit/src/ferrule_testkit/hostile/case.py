"""What a hostile case is, and how to write one in a line.

A case is an answer of a server that is out to hurt who asks, and what must come of it all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from ferrule_dev.testing.http_server import HTML, Exchange, Route

NEEDLE = "The needle is here."
_SMALL = 4_000  # bytes
NETWORK, STATUS, PARSE, URL = "NETWORK_ERROR", "HTTP_ERROR", "PARSE_ERROR", "INVALID_URL"


class Case(NamedTuple):
    """name: goes on from "A page that …". answer: how the server treats the request.

    code: of the error that must come back; empty where content must. says: what stands in the content or in the
    message. never: what stands nowhere in the answer. seconds: FERRULE_DEADLINE, where the case has to wait for it.
    path: what is asked for. scheme: https for a server that speaks no TLS. is_small: an ordinary answer of a few bytes,
    which cannot take a process more time or memory than any other.
    """

    name: str
    answer: Route
    code: str = ""
    says: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    seconds: float | None = None
    path: str = ""
    scheme: str = "http"
    group: str = ""
    is_small: bool = False

    def in_process(self) -> Case:
        """The same of few bytes that speak of many, so that a process of its own has to show what it takes."""
        return self._replace(is_small=False)


def raw(
    name: str,
    *pieces: bytes,
    code: str = "",
    says: str | tuple[str, ...] = (),
    never: str | tuple[str, ...] = (),
    seconds: float | None = None,
    then: Callable[[Exchange], object] | None = None,
) -> Case:
    """The server sends these bytes and nothing else, does something more, and closes the connection."""

    def answer(exchange: Exchange) -> None:
        exchange.close_connection = True
        for piece in pieces:
            exchange.send(piece)
        if then is not None:
            then(exchange)

    is_small = bool(pieces) and sum(map(len, pieces)) < _SMALL and then is None and seconds is None
    return Case(name, answer, code, _all(says), _all(never), seconds, is_small=is_small)


def body(
    name: str,
    data: bytes | Callable[[], bytes],
    content_type: str = HTML,
    *,
    code: str = "",
    says: str | tuple[str, ...] = (),
    never: str | tuple[str, ...] = (),
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    seconds: float | None = None,
) -> Case:
    """The server sends a whole answer. data: a function where it is too large to be kept."""

    def answer(exchange: Exchange) -> None:
        exchange.answer(data() if callable(data) else data, content_type, status=status, headers=headers)

    is_small = not callable(data) and len(data) < _SMALL and seconds is None
    return Case(name, answer, code, _all(says), _all(never), seconds, is_small=is_small)


def page(
    name: str, html: str | Callable[[], str], says: str | tuple[str, ...] = (), never: str | tuple[str, ...] = ()
) -> Case:
    """The server sends HTML in UTF-8."""
    data = (lambda: html().encode()) if callable(html) else html.encode()
    return body(name, data, says=says, never=never)


def _all(texts: str | tuple[str, ...]) -> tuple[str, ...]:
    return tuple(filter(None, [texts])) if isinstance(texts, str) else texts
