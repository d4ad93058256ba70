"""What a general search may ask SearXNG for, in SearXNG's words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule_searxng.provider import SAFE_SEARCH

if TYPE_CHECKING:
    from ferrule_websearch import SearchManifest

SEARCH: SearchManifest = {
    "tool": "web_search_searxng",
    "name": "SearXNG",
    "provider": "ferrule_searxng.provider:SearXNG",
    "limits": {"results": 10, "sites": 10},  # a page has at least as many, so that one request does
    "parameters": {
        "time_range": {"as": "time_range", "values": ["day", "week", "month", "year"]},
        "safe": {
            "as": "safesearch",
            "values": {"off": SAFE_SEARCH["off"], "medium": SAFE_SEARCH["moderate"], "high": SAFE_SEARCH["strict"]},
        },
        "language": "language",
    },
}
