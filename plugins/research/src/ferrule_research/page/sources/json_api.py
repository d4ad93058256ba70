"""JSON from an API, fetched as any page is."""

from __future__ import annotations

import json
from typing import Any

from ferrule import Context, ToolError
from ferrule_fetch.library import Wanted, fetch
from ferrule_research.page.metadata.embedded import clean

_MOST_BYTES = 4 << 20  # a paper with thousands of references has one


def endpoint(context: Context, name: str, variable: str, default: str) -> str:
    """The address of an API: what the administrator has put in its place, else the default; without a slash."""
    value = context.setting(name, variable)
    return (value.strip().rstrip("/") if isinstance(value, str) else "") or default


def get_json(url: str, context: Context, deadline: float) -> Any:
    """The document at a URL, without what no answer may hold. Raises ToolError, PARSE_ERROR for what is no JSON."""
    wanted = Wanted("application/json", lambda _: _MOST_BYTES, lambda declared: declared.may_be_readable)
    page = fetch(url, context, deadline=deadline, wanted=wanted, is_page=False)
    try:
        return clean(json.loads(page.body))
    except (ValueError, RecursionError):
        raise ToolError("PARSE_ERROR", "Failed to parse HTML: the API sent something else than JSON") from None
