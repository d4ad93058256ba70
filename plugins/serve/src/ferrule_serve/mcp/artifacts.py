"""Artifacts: a link to each in the result that names it, and its bytes as a resource."""

from __future__ import annotations

import asyncio
import time
from base64 import b64encode
from typing import TYPE_CHECKING

from ferrule.content import is_text
from ferrule.content.artifacts import handles, read_artifact
from ferrule.errors import FerruleError
from ferrule.storage import StorageError
from ferrule_serve.protocol.vocabulary import INTERNAL_ERROR, INVALID_PARAMS, RESOURCE_NOT_FOUND, RequestError

if TYPE_CHECKING:
    from ferrule.content.artifacts import Artifact
    from ferrule.text.json_types import JSONMapping, JSONObject
    from ferrule_serve.mcp.exchange import Exchange
    from ferrule_serve.protocol.vocabulary import Block, Contents

EXPIRES = "ferrule/expiresAt"
"""The key in `_meta` of a link and of a resource's contents: when it expires, as `2026-01-31T12:00:00Z`."""

TEMPLATE = {
    "name": "artifact",
    "uriTemplate": handles.PREFIX + "{sha256}",
    "description": "A large result of a tool, or a file that it has made, whole, for as long as the link to it says.",
}


def link_in(document: JSONMapping) -> Block | None:
    """The link to the artifact for which a result stands; None where it is the result itself."""
    resource = document.get("resource")
    name = handles.name_in(resource) if document.get("linked") is True and isinstance(resource, str) else None
    if name is None:
        return None
    link: Block = {
        "type": "resource_link",
        "uri": handles.uri(name),
        "name": f"artifact {name[:12]}",
        "mimeType": handles.MIME_TYPE,
    }
    size, summary, expires = (document.get(key) for key in ("bytes", "summary", "expiresAt"))
    if isinstance(summary, str):
        link["description"] = summary
    if isinstance(size, int):
        link["size"] = size
    if isinstance(expires, str):
        link["_meta"] = {EXPIRES: expires}
    return link


async def read(exchange: Exchange) -> JSONObject:
    """The text or the bytes of an artifact, which a client may keep for as long as the artifact lives.

    Raises RequestError if there is none, or the store does not answer.
    """
    uri = exchange.request.params.get("uri")
    if not isinstance(uri, str):
        raise RequestError(INVALID_PARAMS, "Invalid request parameters: uri has to be a string.")
    try:
        found = await asyncio.to_thread(read_artifact, uri)
    except (FerruleError, StorageError) as error:
        raise RequestError(INTERNAL_ERROR, str(error)) from None
    if found is None:
        code = INVALID_PARAMS if exchange.peer.has_envelopes else RESOURCE_NOT_FOUND
        message = f"artifact not found (it may have expired): {handles.describe(uri)}"
        raise RequestError(code, message, {"uri": uri[:200]})
    body, artifact = found
    meta = {EXPIRES: time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(artifact.expires))}
    life = max(0, int((artifact.expires - time.time()) * 1000))
    contents = contents_of(uri, body, artifact, meta)
    return {"contents": [contents], "ttlMs": life} if exchange.peer.has_envelopes else {"contents": [contents]}


def contents_of(uri: str, body: bytes, artifact: Artifact, meta: dict[str, str]) -> Contents:
    """The contents of an artifact: as text where it is one, else in base64."""
    media_type = artifact.label.media_type
    contents: Contents = {"uri": uri, "mimeType": media_type, "_meta": meta}
    try:
        text = body.decode() if is_text(media_type) else None
    except UnicodeDecodeError:
        text = None
    if text is not None:
        contents["text"] = text
    else:
        contents["blob"] = b64encode(body).decode()
    return contents
