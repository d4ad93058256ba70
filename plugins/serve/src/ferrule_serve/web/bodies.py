"""The body of a request over HTTP, up to a size."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import Receive


class BodyTooLarge(Exception):
    """The body is larger than it may be."""


class ClientGone(Exception):
    """The client has gone before its request was whole."""


async def read_body(announced: str | None, receive: Receive, max_bytes: int) -> bytes:
    """The body. announced: its length, as the head says it. Raises BodyTooLarge, before it is read, and ClientGone."""
    body = bytearray()
    is_whole = False
    while not is_whole:
        if len(body) > max_bytes or (announced and announced.isdigit() and int(announced) > max_bytes):
            raise BodyTooLarge
        part = await receive()
        if part["type"] != "http.request":
            raise ClientGone
        body += part.get("body", b"")
        is_whole = not part.get("more_body", False)
    if len(body) > max_bytes:
        raise BodyTooLarge
    return bytes(body)
