"""Requests over httpcore, with an end: a body that grows without bound is refused, a broken connection explained."""

from __future__ import annotations

import logging
import socket
from base64 import b64encode
from typing import TYPE_CHECKING
from urllib.parse import unquote_to_bytes

from ferrule_ask.models.dialogue import Response
from ferrule_ask.request.errors import CallFailed

if TYPE_CHECKING:
    import ssl
    from collections.abc import Mapping

    import httpcore

    from ferrule.http import URL, Proxy

MAX_BODY_BYTES = 8 << 20  # decoded
_MAX_IDLE_CONNECTIONS = 32
_MAX_IDLE_SECONDS = 5.0


class Transport:
    """The connections of one client, on one event loop. Each pool is made when it is first used.

    Of the environment it reads HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY, and SSL_CERT_FILE and SSL_CERT_DIR, as
    `ferrule.http` does.
    """

    def __init__(self) -> None:
        self._pools: dict[tuple[bool, Proxy | None], httpcore.AsyncConnectionPool] = {}

    async def post(self, url: str, headers: Mapping[str, str], body: bytes, named: str) -> Response:
        """Send a body and read the response. Follows no redirect. Has no deadline. Raises CallFailed.

        Args:
            named: the setting that the URL comes from.
        """
        import httpcore

        target, pool = self.connect(url, named)
        there = httpcore.URL(scheme=target.scheme, host=target.host, port=target.port, target=target.target)
        try:
            async with pool.stream("POST", there, headers=_all_headers(target, headers), content=body) as response:
                head = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers}
                return Response(response.status, head, await _body(response, head.get("content-encoding", "")))
        except CallFailed:
            raise
        except Exception as error:  # noqa: BLE001 - a fault of a library ends one question, and no more
            raise _broken(error, named) from None

    async def close(self) -> None:
        """Close the connections."""
        pools, self._pools = self._pools, {}
        for pool in pools.values():
            await pool.aclose()

    def connect(self, url: str, named: str) -> tuple[URL, httpcore.AsyncConnectionPool]:
        """Where that URL leads, and what sends there. Connects to nothing yet, but takes its time at its first call.

        Raises CallFailed.
        """
        from ferrule.errors import ToolError
        from ferrule.http import UnusableURL, parse, proxy_for

        try:
            target = parse(url)
            proxy = proxy_for(target.scheme, target.host, target.port or (443 if target.scheme == "https" else 80))
        except UnusableURL:
            raise _no_url(named) from None
        except ToolError:  # its message names one variable, and all of them may be wrong
            sentence = "A proxy that the environment names cannot be used. Correct HTTP_PROXY, HTTPS_PROXY, ALL_PROXY."
            raise CallFailed("NETWORK_ERROR", sentence, was_sent=False) from None
        key = target.scheme == "https", proxy
        if key not in self._pools:
            self._pools[key] = _pool(*key)
        return target, self._pools[key]


def _pool(is_secure: bool, proxy: Proxy | None) -> httpcore.AsyncConnectionPool:
    import httpcore

    # It would write the headers of every response to the log.
    logging.getLogger("httpcore").setLevel(logging.CRITICAL + 1)
    return httpcore.AsyncConnectionPool(
        ssl_context=_tls_context() if is_secure else None,
        proxy=proxy
        and httpcore.Proxy(
            httpcore.URL(scheme=proxy.scheme, host=proxy.host, port=proxy.port, target="/"),
            auth=proxy.login,
            ssl_context=_tls_context() if proxy.scheme == "https" else None,
        ),
        max_connections=None,
        max_keepalive_connections=_MAX_IDLE_CONNECTIONS,
        keepalive_expiry=_MAX_IDLE_SECONDS,
    )


def _tls_context() -> ssl.SSLContext:
    from ferrule.errors import ToolError
    from ferrule.http import tls_context

    try:
        return tls_context()
    except ToolError as error:
        raise CallFailed("NETWORK_ERROR", f"{error.message} {error.hint or ''}".strip(), was_sent=False) from None


def _all_headers(target: URL, headers: Mapping[str, str]) -> list[tuple[str, str]]:
    from ferrule.http import ACCEPTED_ENCODINGS

    found = {"host": target.authority, "accept-encoding": ACCEPTED_ENCODINGS, **headers}
    if target.userinfo:  # a gateway that wants its own login gets that, and no key
        name, _, password = map(unquote_to_bytes, target.userinfo.partition(":"))
        found["authorization"] = f"Basic {b64encode(b'%b:%b' % (name, password)).decode()}"
    return list(found.items())


async def _body(response: httpcore.Response, encoding: str) -> bytes:
    from ferrule.http import BodyUnreadable, decoder

    pieces: list[bytes] = []
    left = MAX_BODY_BYTES + 1
    try:
        decoding = decoder(encoding)
        async for piece in response.aiter_stream():
            decoded = decoding.feed(piece, left)
            pieces.append(decoded)
            left -= len(decoded)
            if left <= 0:
                raise CallFailed("API_ERROR", "What the model's server sends is larger than 8 MiB. Ask for less.")
    except BodyUnreadable as error:
        raise CallFailed("API_ERROR", f"{error.reason}. Look at what stands before the model's server.") from None
    return b"".join(pieces)


def _broken(error: Exception, named: str) -> CallFailed:
    """What went wrong on the way. A connection that broke is worth another try, also one in the middle of an answer."""
    import httpcore

    if isinstance(error, httpcore.UnsupportedProtocol | httpcore.LocalProtocolError):
        return _no_url(named)
    if not isinstance(error, httpcore.NetworkError | httpcore.ProtocolError | httpcore.ProxyError):
        return CallFailed("NETWORK_ERROR", f"The connection failed ({type(error).__name__}). Ask again.")
    return CallFailed(
        "NETWORK_ERROR",
        f"{_reason(error)}. Look at the network, and at {named}.",
        may_repeat=True,
        was_sent=not isinstance(error, httpcore.ConnectError | httpcore.ProxyError),
    )


def _no_url(named: str) -> CallFailed:
    return CallFailed("INVALID_REQUEST", f"{named} is no URL of http or https. Correct it.", was_sent=False)


def _reason(error: BaseException) -> str:
    """In the words of ferrule.http: of the innermost error that has a reason of its own; what wraps it says less."""
    import httpcore

    from ferrule.http import reason_of

    found = error
    one: BaseException | None = error
    while one is not None:
        if isinstance(one, OSError | httpcore.ProtocolError | httpcore.ProxyError) and one.args:
            found = one
        one = one.exceptions[0] if isinstance(one, BaseExceptionGroup) else one.__cause__ or one.__context__
    return "The name of the host could not be resolved" if isinstance(found, socket.gaierror) else reason_of(found)
