"""What a general search for news may ask GDELT for, in GDELT's words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule_gdelt.places import COUNTRIES, LANGUAGES
from ferrule_gdelt.provider import MAX_RESULTS, MAX_SITES, ORDERS, TIMES

if TYPE_CHECKING:
    from ferrule_websearch import SearchManifest

NEWS: SearchManifest = {
    "tool": "news_search_gdelt",
    "name": "GDELT",
    "kind": "news",
    "provider": "ferrule_gdelt.provider:GDELT",
    "limits": {"results": MAX_RESULTS, "served": MAX_RESULTS, "sites": MAX_SITES},
    "parameters": {
        "time_range": {"as": "timespan", "values": TIMES},
        "sort_by": {"as": "sort", "values": ORDERS},
        "language": {"as": "sourcelang", "values": LANGUAGES, "operator": True},
        "country": {"as": "sourcecountry", "values": COUNTRIES, "operator": True},
        "site": "domain",
    },
    "operators": False,
}
