"""Requests over httpx, with an end: a body that grows without bound is refused, a broken connection explained."""

from __future__ import annotations

import os
import socket
import ssl
from typing import TYPE_CHECKING, NamedTuple

from ferrule_ask.errors import CallFailed

if TYPE_CHECKING:
    from collections.abc import Mapping

    import httpx

LARGEST = 8 << 20  # bytes of a body, decoded


class Response(NamedTuple):
    """A whole response. headers: names in small letters."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Transport:
    """The connections of one asker, on one event loop. Made when it is first used.

    Of the environment it reads HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY as httpx does, and SSL_CERT_FILE and
    SSL_CERT_DIR.
    """

    def __init__(self) -> None:
        self._clients: dict[bool, httpx.AsyncClient] = {}

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> Response:
        """Send a body and read the response. Follows no redirect. Has no deadline. Raises CallFailed."""
        from ferrule.http.errors import UnusableURL
        from ferrule.http.httpx_library import httpx
        from ferrule.http.urls import parse

        client, head = self.connect(url), False
        try:
            parse(url)  # httpx finds some faults only when it connects, and has no words for them
            async with client.stream("POST", url, headers=dict(headers), content=body) as response:
                head = True
                names = {name.lower(): value for name, value in response.headers.items()}
                return Response(response.status_code, names, await _body(response))
        except httpx.HTTPError as error:
            raise _broken(error, head=head) from None
        except (UnusableURL, httpx.InvalidURL):
            raise CallFailed("INVALID_REQUEST", _BAD_URL, was_sent=False) from None
        except CallFailed:
            raise
        except Exception as error:  # noqa: BLE001 - a fault of a library ends one question, and no more
            raise CallFailed("NETWORK_ERROR", f"The connection failed ({type(error).__name__}). Ask again.") from None

    async def close(self) -> None:
        """Close the connections."""
        clients, self._clients = self._clients, {}
        for client in clients.values():
            await client.aclose()

    def connect(self, url: str) -> httpx.AsyncClient:
        """What it sends to that URL with. Connects to nothing yet, but takes its time when it is first called.

        Raises CallFailed.
        """
        # Reading the certificates takes ten times as long as all else, and nothing in clear needs them.
        secure = not url.lower().startswith("http:") or any(name.lower().endswith("_proxy") for name in os.environ)
        if secure not in self._clients:
            self._clients[secure] = _client(secure=secure)
        return self._clients[secure]


def _client(*, secure: bool) -> httpx.AsyncClient:
    from ferrule.errors import ToolError
    from ferrule.http.httpx_library import httpx
    from ferrule.http.inflate import ACCEPTED
    from ferrule.http.trust import tls_context

    try:
        return httpx.AsyncClient(
            verify=tls_context() if secure else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),  # which trusts nobody
            headers={"accept-encoding": ACCEPTED},
            follow_redirects=False,
            timeout=None,  # the deadline of a step bounds everything, which no timeout of httpx does
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=32),
        )
    except ToolError as error:
        raise CallFailed("NETWORK_ERROR", f"{error.message} {error.hint or ''}".strip(), was_sent=False) from None
    except (ValueError, ImportError, httpx.InvalidURL):
        # the value is not shown, because it may hold a password
        sentence = "A proxy that the environment names cannot be used. Correct HTTP_PROXY, HTTPS_PROXY, ALL_PROXY."
        raise CallFailed("NETWORK_ERROR", sentence, was_sent=False) from None


_BAD_URL = "ANTHROPIC_BASE_URL is no URL of http or https. Correct it."


async def _body(response: httpx.Response) -> bytes:
    from ferrule.http.errors import BodyUnreadable
    from ferrule.http.inflate import decoder

    pieces: list[bytes] = []
    left = LARGEST + 1
    try:
        decoding = decoder(response.headers.get("content-encoding", ""))
        async for piece in response.aiter_raw():
            decoded = decoding.feed(piece, left)
            pieces.append(decoded)
            left -= len(decoded)
            if left <= 0:
                raise CallFailed("API_ERROR", "What the model's server sends is larger than 8 MiB. Ask for less.")
    except BodyUnreadable as error:
        raise CallFailed("API_ERROR", f"{error.reason}. Look at what stands before the model's server.") from None
    return b"".join(pieces)


def _broken(error: httpx.HTTPError, *, head: bool) -> CallFailed:
    """What went wrong on the way. Only a request that has not begun to be answered is worth a second try."""
    from ferrule.http.httpx_library import httpx

    if isinstance(error, httpx.UnsupportedProtocol | httpx.LocalProtocolError):
        return CallFailed("INVALID_REQUEST", _BAD_URL, was_sent=False)
    return CallFailed(
        "NETWORK_ERROR",
        f"{_reason(error)}. Look at the network, and at ANTHROPIC_BASE_URL.",
        may_repeat=not head,
        was_sent=not isinstance(error, httpx.ConnectError | httpx.ProxyError),
    )


def _reason(error: BaseException) -> str:
    """In the words of ferrule.http: of the innermost error that it knows, since what wraps it says less."""
    from ferrule.http.errors import RequestFailed, as_request_failed

    known = _innermost(error)
    if isinstance(known, socket.gaierror):
        return "The name of the host could not be resolved"
    try:
        with as_request_failed():
            raise known
    except RequestFailed as failed:
        return failed.reason
    except Exception:  # noqa: BLE001 - it has no words for it
        return "The connection failed"


def _innermost(error: BaseException) -> BaseException:
    """The last of a chain of errors that has a reason of its own; else the first."""
    from ferrule.http.httpcore_library import httpcore

    found = error
    one: BaseException | None = error
    while one is not None:
        if isinstance(one, OSError | httpcore.ProtocolError | httpcore.ProxyError) and one.args:
            found = one
        one = one.exceptions[0] if isinstance(one, BaseExceptionGroup) else one.__cause__ or one.__context__
    return found
