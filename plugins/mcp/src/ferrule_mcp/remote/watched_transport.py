"""A transport of httpx2 that remembers what went wrong, and bounds what a server may send.

The SDK turns most failures into one sentence, and a failure of the connection ends its tasks. So the cause is kept
here, and the SDK gets an answer with a JSON-RPC error instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio
import httpx2

from ferrule import ToolError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

MAX_ANSWER_BYTES = 16 << 20
"""Bytes that one answer may have, and all events of one stream together."""

_EVENT_STREAM = "text/event-stream"
_CLOSE_SECONDS = 2.0
_BAD_GATEWAY = 502
_ENCODED = ("content-encoding", "content-length", "transfer-encoding")


class Exchange:
    """One request and its answer, as far as a message needs them. `body` is empty where it is a stream of events.

    Args:
        request: that was sent.
        status, headers: of the answer.
    """

    def __init__(self, request: httpx2.Request, status: int, headers: httpx2.Headers) -> None:
        self.url = str(request.url)
        self.is_authorized = "authorization" in request.headers
        self.status = status
        self.content_type = headers.get("content-type", "").partition(";")[0].strip().lower()
        self.location = headers.get("location", "")
        self.challenge = headers.get("www-authenticate", "")
        self.retry_after = headers.get("retry-after", "")
        self.body = b""


class Watch:
    """What has happened on the connections of one session since `clear`.

    Attributes:
        exchange: the last one that has got an answer.
        reason: why there was none, in a few words; "" where there was one.
        refusal: what the guard, or the host, did not allow.
        excess: bytes that were too many; 0 where none were.
    """

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget what has happened."""
        self.exchange: Exchange | None = None
        self.reason = ""
        self.refusal: ToolError | None = None
        self.excess = 0


class WatchedTransport(httpx2.AsyncBaseTransport):
    """Sends by another transport, and keeps in `watch` what came of it.

    Args:
        inner: the transport that sends. It is closed with this one.
        watch: where it is kept.
        max_bytes: of an answer.
    """

    def __init__(self, inner: httpx2.AsyncBaseTransport, watch: Watch, max_bytes: int = MAX_ANSWER_BYTES) -> None:
        self._inner = inner
        self._watch = watch
        self._max_bytes = max_bytes

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request. An answer that is no stream of events is read whole."""
        is_last = request.method == "DELETE"
        try:
            with anyio.fail_after(_CLOSE_SECONDS if is_last else None):
                return await self._take(request, await self._inner.handle_async_request(request))
        except ToolError as error:
            self._watch.refusal = error
            return _make_failure(error.message)
        except (httpx2.HTTPError, TimeoutError) as error:
            if not (is_last or self._is_side_stream(request)):
                self._watch.reason = str(error) or "Connection timeout"
            return _make_failure("The connection failed.")

    async def aclose(self) -> None:
        """Close every connection."""
        await self._inner.aclose()

    async def _take(self, request: httpx2.Request, response: httpx2.Response) -> httpx2.Response:
        exchange = Exchange(request, response.status_code, response.headers)
        if not self._is_side_stream(request) and request.method != "DELETE":
            self._watch.exchange = exchange
        if exchange.content_type == _EVENT_STREAM and response.is_success:
            response.stream = _BoundedStream(response.stream, self._watch, self._max_bytes)
            return response
        exchange.body = await self._read(response)
        headers = [(name, value) for name, value in response.headers.multi_items() if name.lower() not in _ENCODED]
        return httpx2.Response(response.status_code, headers=headers, content=exchange.body)

    async def _read(self, response: httpx2.Response) -> bytes:
        body = bytearray()
        try:
            async for piece in response.aiter_bytes():
                body += piece
                if len(body) > self._max_bytes:
                    self._watch.excess = self._max_bytes
                    return b""
        finally:
            await response.aclose()
        return bytes(body)

    @staticmethod
    def _is_side_stream(request: httpx2.Request) -> bool:
        """Whether it asks for the stream of what no request has asked for, which a server need not have."""
        return request.method == "GET" and _EVENT_STREAM in request.headers.get("accept", "")


class _BoundedStream(httpx2.AsyncByteStream):
    """A stream of events that ends where it has sent too much."""

    def __init__(self, inner: object, watch: Watch, max_bytes: int) -> None:
        if not isinstance(inner, httpx2.AsyncByteStream):
            raise TypeError("the answer has no asynchronous stream")
        self._inner = inner
        self._watch = watch
        self._left = max_bytes
        self._max_bytes = max_bytes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._inner:
            self._left -= len(piece)
            if self._left < 0:
                self._watch.excess = self._max_bytes
                return
            yield piece

    async def aclose(self) -> None:
        await self._inner.aclose()


def _make_failure(message: str) -> httpx2.Response:
    """An answer that the SDK hands on as the error of the request."""
    error = {"code": -32603, "message": message}
    return httpx2.Response(_BAD_GATEWAY, json={"jsonrpc": "2.0", "id": None, "error": error})
