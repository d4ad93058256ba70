"""What a general search may ask SearXNG for, in SearXNG's words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule_searxng.provider import SAFE_SEARCH

if TYPE_CHECKING:
    from ferrule_websearch import SearchManifest

_LIMITS = {"results": 10, "sites": 10}  # a page has at least as many, so that one request does
_SAFE: dict[str, object] = {
    "as": "safesearch",
    "values": {"off": SAFE_SEARCH["off"], "medium": SAFE_SEARCH["moderate"], "high": SAFE_SEARCH["strict"]},
}
_PARAMETERS: dict[str, str | dict[str, object]] = {
    "time_range": {"as": "time_range", "values": ["day", "week", "month", "year"]},
    "safe": _SAFE,
    "language": "language",
}

SEARCH: SearchManifest = {
    "tool": "web_search_searxng",
    "name": "SearXNG",
    "provider": "ferrule_searxng.provider:SearXNG",
    "limits": _LIMITS,
    "parameters": _PARAMETERS,
}

NEWS: SearchManifest = {
    "tool": "web_search_searxng",
    "name": "SearXNG",
    "kind": "news",
    "provider": "ferrule_searxng.kinds:SearXNGNews",
    "limits": _LIMITS,
    "parameters": _PARAMETERS,
}

IMAGES: SearchManifest = {
    "tool": "web_search_searxng",
    "name": "SearXNG",
    "kind": "images",
    "provider": "ferrule_searxng.kinds:SearXNGImages",
    "limits": _LIMITS,
    "parameters": {"safe": _SAFE, "language": "language"},
}
