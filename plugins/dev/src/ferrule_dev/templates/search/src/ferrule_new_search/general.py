"""What `web_search` may ask this provider for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ferrule_websearch import SearchManifest

SEARCH: SearchManifest = {
    "tool": "web_search_new_search",
    "name": "New search",
    "provider": "ferrule_new_search.provider:Search",
    "limits": {"results": 25, "sites": 5},
    "parameters": {"language": "lang"},
}
