"""Whether the pages of sources are still there, and where there is a copy of those that are not."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING
from urllib.parse import quote

from ferrule import ToolError
from ferrule.http import UnusableURL, parse
from ferrule_fetch.library import FetchOptions, StatusError, fetch
from ferrule_research.page.sources.json_api import endpoint, get_json
from ferrule_research.sessions.store import format_instant

if TYPE_CHECKING:
    from ferrule import Context
    from ferrule_research.sessions.model import Source

_AT_ONCE = 8
_LINK_SECONDS = 8.0
_LEFT_SECONDS = 1.5  # of the call, to write the document
_LEAST_SECONDS = 0.5  # that a check is begun with
_READ_BYTES = 1 << 12  # the page itself is not needed
_OPTIONS = FetchOptions(max_bytes=lambda _: _READ_BYTES, is_readable=lambda _: True)
_HTTP_OK = 200
_GONE = (404, 410)
_MAX_COPY_CHARS = 8192  # of an address that has that of the page in it
_ARCHIVE = "https://archive.org"


def check_links(sources: Sequence[Source], context: Context) -> list[Source]:
    """The sources with what came of asking for the page of each, side by side, as far as the call's time allows.

    `verified` is true for a page that is there, and false for one that its server says is gone. A server that refuses,
    or gives no answer, says neither. `archivedUrl` is the copy of a page that was not found there. A source without
    `verifiedAt` was not asked for.
    """
    end = context.deadline - _LEFT_SECONDS
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return list(pool.map(lambda one: _check(one, context, end), sources))


def _check(source: Source, context: Context, end: float) -> Source:
    if end - time.monotonic() < _LEAST_SECONDS:
        return source
    deadline = min(end, time.monotonic() + _LINK_SECONDS)
    checked: Source = {**source, "verifiedAt": format_instant()}
    try:
        fetch(source["url"], context, deadline=deadline, options=_OPTIONS)
        return {**checked, "httpStatus": _HTTP_OK, "verified": True}
    except StatusError as error:
        checked["httpStatus"] = error.status
        if error.status in _GONE:
            checked["verified"] = False
    except ToolError as error:
        if error.code == "INVALID_URL":  # an address that is not asked for
            return source
        if error.code == "PARSE_ERROR":  # the server has sent something
            return {**checked, "httpStatus": _HTTP_OK, "verified": True}
    copy = _find_copy(source["url"], context, end)
    return {**checked, "archivedUrl": copy} if copy else checked


def _find_copy(url: str, context: Context, end: float) -> str:
    """The address of a copy that the Internet Archive keeps; "" where it has none or cannot be asked."""
    if end - time.monotonic() < _LEAST_SECONDS:
        return ""
    base = endpoint(context, "archive_endpoint", "FERRULE_ARCHIVE_ENDPOINT", _ARCHIVE)
    asked = f"{base}/wayback/available?url={quote(url, safe='')}"
    try:
        found = get_json(asked, context, min(end, time.monotonic() + _LINK_SECONDS))
    except ToolError:
        return ""
    for name in ("archived_snapshots", "closest"):
        found = found.get(name) if isinstance(found, dict) else None
    copy = found.get("url") if isinstance(found, dict) and found.get("available") is True else ""
    return copy if isinstance(copy, str) and _is_address(copy) else ""


def _is_address(text: str) -> bool:
    """Whether a text is an address that a reader can follow, of a length that leaves room for the rest."""
    if len(text) > _MAX_COPY_CHARS or any(one.isspace() or not one.isprintable() for one in text):
        return False
    try:
        return parse(text, strict=True).scheme in ("http", "https")
    except UnusableURL:
        return False
