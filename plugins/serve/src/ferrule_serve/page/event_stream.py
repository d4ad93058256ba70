"""An answer to a form that comes in pieces: the events of a call as they happen, then the page with its answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, TypeVar

from starlette.requests import ClientDisconnect
from starlette.responses import Response

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

MEDIA_TYPE = "application/x-ndjson"

_T = TypeVar("_T")

Line = Mapping[str, object]
"""What one line tells the page's script, as a JSON object."""


class EventStream(Response):
    """Lines of JSON, each sent when it is there.

    work: is called with what takes a line at any time, and gives the last one. It is cancelled where the browser
    leaves.
    """

    media_type = MEDIA_TYPE

    def __init__(self, work: Callable[[Callable[[Line], None]], Coroutine[object, object, Line]]) -> None:
        super().__init__(headers={"X-Accel-Buffering": "no"})  # nginx would keep the lines until the end
        del self.headers["content-length"]
        self._work = work

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send all lines."""
        try:
            await cancel_when_left(receive, self._send_lines(send))
        except ClientDisconnect:
            return  # nobody is there to be answered

    async def _send_lines(self, send: Send) -> None:
        lines: asyncio.Queue[Line | None] = asyncio.Queue()
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        working = asyncio.ensure_future(self._work(lines.put_nowait))
        working.add_done_callback(lambda _: lines.put_nowait(None))
        try:
            while (line := await lines.get()) is not None:
                await send({"type": "http.response.body", "body": _encode(line), "more_body": True})
            await send({"type": "http.response.body", "body": _encode(working.result())})
        finally:
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)


async def cancel_when_left(receive: Receive, work: Coroutine[object, object, _T]) -> _T:
    """Do the work, which is cancelled where the browser leaves: its call ends then. Raises ClientDisconnect."""
    working = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_wait_until_left(receive))
    try:
        await asyncio.wait((working, leaving), return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnect
        return working.result()
    finally:
        for task in (working, leaving):
            task.cancel()
        await asyncio.gather(working, leaving, return_exceptions=True)


async def _wait_until_left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _encode(line: Line) -> bytes:
    return json.dumps(line).encode() + b"\n"
