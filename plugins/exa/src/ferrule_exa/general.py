"""What a general search may ask Exa for, in Exa's words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule_exa.provider import DAYS, MAX_DOMAINS, PRICED_RESULTS

if TYPE_CHECKING:
    from ferrule_websearch import SearchManifest

SEARCH: SearchManifest = {
    "tool": "web_search_exa",
    "name": "Exa",
    "provider": "ferrule_exa.provider:Exa",
    "limits": {"results": PRICED_RESULTS, "sites": MAX_DOMAINS},
    "parameters": {
        "time_range": {"as": "startPublishedDate", "values": DAYS, "days_ago": True},
        "safe": {"as": "moderation", "values": {"off": False, "medium": True, "high": True}},
        "country": "userLocation",
        "site": {"as": "includeDomains", "list": True},
    },
    "operators": False,
}
