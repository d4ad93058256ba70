"""Large results: a link to each in the result that stands in its place, and their text as a resource."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

import mcp_types as types
from mcp import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from ferrule.config import configuration
from ferrule.errors import FerruleError
from ferrule.wrappers.artifacts.handles import MIME_TYPE, PREFIX, name_in, shown, uri
from ferrule.wrappers.artifacts.settings import Settings
from ferrule.wrappers.artifacts.store import StoreUnavailable, store_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcp.server import ServerRequestContext

EXPIRES = "ferrule/expiresAt"
"""The key in `_meta` of a link and of a resource's contents: when it expires, as `2026-01-31T12:00:00Z`."""

TEMPLATE = types.ResourceTemplate(
    name="artifact",
    uri_template=PREFIX + "{sha256}",
    description="A large result of a tool, whole, for as long as the link to it says.",
    mime_type=MIME_TYPE,
)
_NOT_FOUND_BEFORE = -32002  # the code of the handshake era; since then it is that of a parameter that is wrong


def link_in(document: Mapping[str, Any]) -> types.ResourceLink | None:
    """The link to the artifact for which a result stands; None where it is the result itself."""
    resource = document.get("resource")
    name = name_in(resource) if document.get("linked") is True and isinstance(resource, str) else None
    if name is None:
        return None
    size, summary, expires = (document.get(key) for key in ("bytes", "summary", "expiresAt"))
    return types.ResourceLink(
        uri=uri(name),
        name=f"artifact {name[:12]}",
        description=summary if isinstance(summary, str) else None,
        mime_type=MIME_TYPE,
        size=size if isinstance(size, int) else None,
        _meta={EXPIRES: expires} if isinstance(expires, str) else None,
    )


async def read(context: ServerRequestContext[Any], params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
    """The text of an artifact, which a client may keep for as long as the artifact lives.

    Raises MCPError where there is none, or the store does not answer.
    """
    uri_asked = str(params.uri)
    name = name_in(uri_asked)
    try:
        found = await asyncio.to_thread(_stored, name) if name else None
    except (StoreUnavailable, FerruleError) as error:
        raise MCPError(code=types.INTERNAL_ERROR, message=str(error)) from None
    if found is None:
        is_modern = context.protocol_version in MODERN_PROTOCOL_VERSIONS
        code = types.INVALID_PARAMS if is_modern else _NOT_FOUND_BEFORE
        message = f"artifact not found (it may have expired): {shown(uri_asked)}"
        raise MCPError(code=code, message=message, data={"uri": uri_asked[:200]})
    text, expires = found
    contents = types.TextResourceContents(
        uri=uri_asked, mime_type=MIME_TYPE, text=text, _meta={EXPIRES: _shown_time(expires)}
    )
    return types.ReadResourceResult(contents=[contents], ttl_ms=max(0, int((expires - time.time()) * 1000)))


def _stored(name: str) -> tuple[str, float] | None:
    store = store_of(Settings.of(configuration.read()))
    body, expires = store.get(name), store.expires(name)
    if body is None or expires is None:
        return None
    try:
        return body.decode(), expires
    except UnicodeDecodeError:
        return None  # whoever stored that, it was not the wrapper


def _shown_time(instant: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(instant))
