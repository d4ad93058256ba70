"""JSON from an API, fetched as any page is."""

from __future__ import annotations

import json

from ferrule import Context, ToolError
from ferrule_fetch.library import FetchOptions, fetch
from ferrule_research.page.metadata.embedded import clean

_MAX_BYTES = 4 << 20  # a paper with thousands of references has one


def endpoint(context: Context, name: str, variable: str, default: str) -> str:
    """The address of an API: what the administrator has put in its place, else the default; without a slash."""
    value = context.setting(name, variable)
    return (value.strip().rstrip("/") if isinstance(value, str) else "") or default


def get_json(url: str, context: Context, deadline: float) -> object:
    """The document at a URL, without what no answer may hold. Raises ToolError, PARSE_ERROR for what is no JSON."""
    wanted = FetchOptions("application/json", lambda _: _MAX_BYTES)
    page = fetch(url, context, deadline=deadline, options=wanted, is_page=False)
    try:
        return clean(json.loads(page.body))
    except (ValueError, RecursionError):
        raise ToolError("PARSE_ERROR", "Failed to parse HTML: the API sent something else than JSON") from None
