"""The body of an answer over HTTP: one JSON document, or events if there is more to say."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from ferrule_serve.protocol.vocabulary import encode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.types import Send

    from ferrule.text.json_types import JSONObject

_PING_SECONDS = 15.0  # of silence, after which a proxy is shown that the connection is alive
_PING = b": ping\r\n\r\n"
_MAX_WAITING = 256  # messages
_STREAM_HEADERS = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"connection", b"keep-alive"),
    (b"x-accel-buffering", b"no"),
]

Headers = list[tuple[bytes, bytes]]


class EventStream:
    """Messages on their way to a client, in their order. headers: of the answer, besides its own."""

    def __init__(self, send: Send, headers: Sequence[tuple[bytes, bytes]] = ()) -> None:
        self._send = send
        self._headers = list(headers)
        self._waiting: list[bytes] = []
        self._news = asyncio.Event()
        self._is_ended = False
        self.has_begun = False

    @property
    def is_full(self) -> bool:
        """Whether the client reads so slowly that what it can do without is left out."""
        return len(self._waiting) >= _MAX_WAITING

    def send(self, message: JSONObject) -> None:
        """Have a message sent. Raises RecursionError for one that is nested too deeply."""
        self._waiting.append(_event(message))
        self._news.set()

    def end(self, *_: object) -> None:
        """Nothing comes any more."""
        self._is_ended = True
        self._news.set()

    async def run(self, *, at_once: bool = False) -> None:
        """Send what comes until the end. at_once: the stream begins before there is a message."""
        if at_once:
            await self._write(_PING)
        while True:
            is_silent = not await self._wait()
            while self._waiting:
                waiting, self._waiting = self._waiting, []
                await self._write(b"".join(waiting))
            if self._is_ended:
                return
            if is_silent:
                await self._write(_PING)

    async def finish(self, message: JSONObject | None, status: int = 200) -> None:
        """Send the last message: as the whole answer where none was sent before it."""
        if self.has_begun:
            await self._send({"type": "http.response.body", "body": _event(message) if message else b""})
            return
        body = encode(message) if message else b""
        own = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        await self._send({"type": "http.response.start", "status": status, "headers": [*own, *self._headers]})
        await self._send({"type": "http.response.body", "body": body})

    async def _wait(self) -> bool:
        """Whether there are news before a ping is due."""
        if not self._news.is_set():
            try:
                async with asyncio.timeout(_PING_SECONDS):
                    await self._news.wait()
            except TimeoutError:
                return False
        self._news.clear()
        return True

    async def _write(self, data: bytes) -> None:
        if not self.has_begun:
            self.has_begun = True
            headers = [*_STREAM_HEADERS, *self._headers]
            await self._send({"type": "http.response.start", "status": 200, "headers": headers})
        await self._send({"type": "http.response.body", "body": data, "more_body": True})


def _event(message: JSONObject) -> bytes:
    return b"event: message\r\ndata: " + encode(message) + b"\r\n\r\n"
