"""Large results: a link to each in the result that stands in its place, and their text as a resource."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import mcp_types as types
from mcp import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from ferrule.calls.server_interface import handles, read_artifact
from ferrule.errors import FerruleError

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONMapping
    from ferrule_serve.mcp.messages import Context

EXPIRES = "ferrule/expiresAt"
"""The key in `_meta` of a link and of a resource's contents: when it expires, as `2026-01-31T12:00:00Z`."""

TEMPLATE = types.ResourceTemplate(
    name="artifact",
    uri_template=handles.PREFIX + "{sha256}",
    description="A large result of a tool, whole, for as long as the link to it says.",
    mime_type=handles.MIME_TYPE,
)
_NOT_FOUND_BEFORE = -32002  # the code of the handshake era; since then it is that of a parameter that is wrong


def link_in(document: JSONMapping) -> types.ResourceLink | None:
    """The link to the artifact for which a result stands; None where it is the result itself."""
    resource = document.get("resource")
    name = handles.name_in(resource) if document.get("linked") is True and isinstance(resource, str) else None
    if name is None:
        return None
    size, summary, expires = (document.get(key) for key in ("bytes", "summary", "expiresAt"))
    return types.ResourceLink(
        uri=handles.uri(name),
        name=f"artifact {name[:12]}",
        description=summary if isinstance(summary, str) else None,
        mime_type=handles.MIME_TYPE,
        size=size if isinstance(size, int) else None,
        _meta={EXPIRES: expires} if isinstance(expires, str) else None,
    )


async def read(context: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
    """The text of an artifact, which a client may keep for as long as the artifact lives.

    Raises MCPError where there is none, or the store does not answer.
    """
    uri_asked = str(params.uri)
    name = handles.name_in(uri_asked)
    try:
        found = await asyncio.to_thread(read_artifact, name) if name else None
    except FerruleError as error:
        raise MCPError(code=types.INTERNAL_ERROR, message=str(error)) from None
    if found is None:
        is_modern = context.protocol_version in MODERN_PROTOCOL_VERSIONS
        code = types.INVALID_PARAMS if is_modern else _NOT_FOUND_BEFORE
        message = f"artifact not found (it may have expired): {handles.describe(uri_asked)}"
        raise MCPError(code=code, message=message, data={"uri": uri_asked[:200]})
    text, expires = found
    meta = {EXPIRES: time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(expires))}
    contents = types.TextResourceContents(uri=uri_asked, mime_type=handles.MIME_TYPE, text=text, _meta=meta)
    return types.ReadResourceResult(contents=[contents], ttl_ms=max(0, int((expires - time.time()) * 1000)))
