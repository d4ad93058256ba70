"""What a general search may ask Tavily for, in Tavily's words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule_tavily.provider import MAX_ALLOWED, MAX_QUERY_CHARS, MAX_RESULTS

if TYPE_CHECKING:
    from ferrule_websearch import SearchManifest

_LANGUAGES = (
    "ar bg cs da de el en es et fi fr he hi hr hu id it ja ko lt lv nl no pl pt ro ru sk sl sr sv th tr uk vi zh"
)
_COUNTRIES = {
    "AR": "argentina",
    "AT": "austria",
    "AU": "australia",
    "BE": "belgium",
    "BR": "brazil",
    "CA": "canada",
    "CH": "switzerland",
    "CL": "chile",
    "CN": "china",
    "CZ": "czech republic",
    "DE": "germany",
    "DK": "denmark",
    "ES": "spain",
    "FI": "finland",
    "FR": "france",
    "GB": "united kingdom",
    "GR": "greece",
    "HU": "hungary",
    "ID": "indonesia",
    "IE": "ireland",
    "IL": "israel",
    "IN": "india",
    "IT": "italy",
    "JP": "japan",
    "KR": "south korea",
    "MX": "mexico",
    "MY": "malaysia",
    "NL": "netherlands",
    "NO": "norway",
    "NZ": "new zealand",
    "PH": "philippines",
    "PL": "poland",
    "PT": "portugal",
    "RO": "romania",
    "RU": "russia",
    "SA": "saudi arabia",
    "SE": "sweden",
    "SG": "singapore",
    "TH": "thailand",
    "TR": "turkey",
    "TW": "taiwan",
    "UA": "ukraine",
    "US": "united states",
    "VN": "vietnam",
    "ZA": "south africa",
}

_TIMES = {"as": "time_range", "values": ["day", "week", "month", "year"]}

SEARCH: SearchManifest = {
    "tool": "web_search_tavily",
    "name": "Tavily",
    "provider": "ferrule_tavily.provider:Tavily",
    "limits": {"results": MAX_RESULTS, "sites": MAX_ALLOWED, "characters": MAX_QUERY_CHARS},
    "parameters": {
        "time_range": _TIMES,
        "language": {"as": "language", "values": _LANGUAGES.split()},
        "country": {"as": "country", "values": _COUNTRIES},
        "site": {"as": "include_domains", "list": True},
    },
    "operators": False,
}

NEWS: SearchManifest = {
    "tool": "web_search_tavily",
    "name": "Tavily",
    "kind": "news",
    "provider": "ferrule_tavily.provider:TavilyNews",
    "limits": {"results": MAX_RESULTS, "served": MAX_RESULTS, "sites": MAX_ALLOWED, "characters": MAX_QUERY_CHARS},
    "parameters": {"time_range": _TIMES, "site": {"as": "include_domains", "list": True}},
    "operators": False,
}
