"""Requests over httpx, with an end: a body that grows without bound is refused, a broken connection explained."""

from __future__ import annotations

import logging
import math
from contextlib import asynccontextmanager
from contextvars import ContextVar
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TYPE_CHECKING

from ferrule_ask.models.dialogue import ErrorEvent, MessageUnreadable, Response
from ferrule_ask.request.errors import CallFailed

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

    import httpx

    from ferrule.errors import ToolError

MAX_BODY_BYTES = 8 << 20  # decoded
_MAX_STREAM_BYTES = 64 << 20  # of events, each of which has far more bytes than text
EVENTS = "text/event-stream"
_OK = 200
_MAX_IDLE_SECONDS = 5.0
_is_own_request: ContextVar[bool] = ContextVar("is_own_request", default=False)


class Transport:
    """The connections of one client, on one event loop. They are opened when they are first needed.

    Of the environment it reads HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY, and SSL_CERT_FILE and SSL_CERT_DIR, as
    `ferrule.http` does.
    """

    def __init__(self) -> None:
        self._client: httpx.AsyncClient | None = None

    async def post(self, url: str, headers: Mapping[str, str], body: bytes, named: str) -> Response:
        """Send a body and read the response. Follows no redirect. Has no deadline. Raises CallFailed.

        Args:
            named: the setting that the URL comes from.
        """
        return await self.exchange("POST", url, headers, body, named)

    async def exchange(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: bytes | None,
        named: str,
        most_bytes: int = MAX_BODY_BYTES,
    ) -> Response:
        """Send a request of any method, as `post` does.

        Args:
            named: the setting that the URL comes from.
            most_bytes: of the response, decoded. A larger one is refused.

        Raises:
            CallFailed
        """
        async with self._sent(method, url, headers, body, named) as response:
            pieces = [one async for one in _pieces(response, most_bytes)]
            return Response(response.status_code, response.headers, b"".join(pieces))

    async def stream(
        self, url: str, headers: Mapping[str, str], body: bytes, named: str, take: Callable[[str], None]
    ) -> Response:
        """Send a body that asks for an answer in pieces, as `post` does.

        Args:
            named: the setting that the URL comes from.
            take: gets the data of each event.

        Returns:
            The response without a body; with its body where the server answers at once, as it does with an error.

        Raises:
            CallFailed, and what `take` raises.
        """
        async with self._sent("POST", url, headers, body, named) as response:
            head, kind = (response.status_code, response.headers), response.headers.get("content-type", "")
            if response.status_code != _OK or kind.partition(";")[0].strip().lower() != EVENTS:
                return Response(*head, b"".join([one async for one in _pieces(response)]))
            async for data in _events(response):
                take(data)
            return Response(*head, b"")

    async def close(self) -> None:
        """Close the connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    def prepare(self, url: str, named: str) -> None:
        """Make ready for requests to a URL, without a connection. Takes its time when first called. Raises CallFailed.

        Args:
            named: the setting that the URL comes from.
        """
        from ferrule.http import UnusableURL, parse

        try:
            parse(url)
        except UnusableURL:
            raise _no_url(named) from None
        if self._client is None:
            self._client = _client()

    @asynccontextmanager
    async def _sent(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None, named: str
    ) -> AsyncIterator[httpx.Response]:
        """The response, once its head is there; it is closed at the end."""
        from ferrule.errors import ToolError

        self.prepare(url, named)
        assert self._client is not None  # noqa: S101 - it has just been made
        token = _is_own_request.set(True)
        try:
            async with self._client.stream(method, url, headers=headers, content=body) as response:
                yield response
        except (CallFailed, MessageUnreadable, ErrorEvent):
            raise
        except ToolError as error:  # the environment is at fault: a proxy or certificates that cannot be used
            raise _unusable(error) from None
        except Exception as error:  # noqa: BLE001 - a fault of a library ends one question, and no more
            raise _broken(error, named) from None
        finally:
            _is_own_request.reset(token)


def _client() -> httpx.AsyncClient:
    import httpx

    from ferrule.http import ACCEPTED_ENCODINGS, AsyncHTTPXTransport

    log = logging.getLogger("httpx")
    if _is_of_others not in log.filters:
        log.addFilter(_is_of_others)
    return httpx.AsyncClient(
        # Each request has a deadline of its own, kept where it is sent.
        transport=AsyncHTTPXTransport(math.inf, idle_seconds=_MAX_IDLE_SECONDS),
        headers={"accept-encoding": ACCEPTED_ENCODINGS},
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        timeout=None,  # noqa: S113 - as above
    )


def _is_of_others(record: logging.LogRecord) -> bool:
    """Whether a line of httpx's log is of somebody else's request: it would name the URL, which may hold a login."""
    return not _is_own_request.get()


async def _events(response: httpx.Response) -> AsyncIterator[str]:
    """The data of server-sent events, as they come."""
    import httpx
    from httpx_sse import EventSource

    class Decoded(httpx.AsyncByteStream):
        def __aiter__(self) -> AsyncIterator[bytes]:
            return _pieces(response, _MAX_STREAM_BYTES)

    async for event in EventSource(httpx.Response(_OK, headers={"content-type": EVENTS}, stream=Decoded())).aiter_sse():
        if event.data:
            yield event.data


async def _pieces(response: httpx.Response, most_bytes: int = MAX_BODY_BYTES) -> AsyncIterator[bytes]:
    """The body, decoded. Raises CallFailed where it becomes too large, or is not what its headers say."""
    from ferrule.http import BodyUnreadable, decoder

    left = most_bytes + 1
    try:
        decoding = decoder(response.headers.get("content-encoding", ""))
        async for piece in response.aiter_raw():
            decoded = decoding.feed(piece, left)
            left -= len(decoded)
            if left <= 0:
                what = f"What the model's server sends is larger than {most_bytes >> 20} MiB. Ask for less."
                raise CallFailed("API_ERROR", what)
            yield decoded
    except BodyUnreadable as error:
        raise CallFailed("API_ERROR", f"{error.reason}. Look at what stands before the model's server.") from None


def _broken(error: Exception, named: str) -> CallFailed:
    """What went wrong on the way. A connection that broke is worth another try, also one in the middle of an answer."""
    import httpx

    if isinstance(error, httpx.InvalidURL | httpx.UnsupportedProtocol | httpx.LocalProtocolError):
        return _no_url(named)
    if not isinstance(error, httpx.TransportError):
        return CallFailed("NETWORK_ERROR", f"The connection failed ({type(error).__name__}). Ask again.")
    return CallFailed(
        "NETWORK_ERROR",
        f"{error}. Look at the network, and at {named}.",
        may_repeat=True,
        was_sent=not isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | httpx.ProxyError),
    )


def _no_url(named: str) -> CallFailed:
    return CallFailed("INVALID_REQUEST", f"{named} is no URL of http or https. Correct it.", was_sent=False)


def _unusable(error: ToolError) -> CallFailed:
    return CallFailed("NETWORK_ERROR", f"{error.message} {error.hint or ''}".strip(), was_sent=False)
