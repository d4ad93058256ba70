"""What a general search may ask Google for, in Google's words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule_google.provider import MAX_PAGE_RESULTS

if TYPE_CHECKING:
    from ferrule_websearch import SearchManifest

_LANGUAGES = (
    "ar bg ca cs da de el en es et fi fr hr hu id is it ja ko lt lv nl no pl pt ro ru sk sl sr sv tr"  # of `lr`
)
_OTHER_NAMES = {"he": "lang_iw", "nb": "lang_no", "nn": "lang_no", "zh": "lang_zh-CN|lang_zh-TW"}

SEARCH: SearchManifest = {
    "tool": "web_search_google",
    "name": "Google Custom Search",
    "provider": "ferrule_google.provider:Google",
    "limits": {"results": MAX_PAGE_RESULTS, "sites": 10, "characters": 2048},
    "parameters": {
        "time_range": {"as": "dateRestrict", "values": {"day": "d1", "week": "w1", "month": "m1", "year": "y1"}},
        "safe": {"as": "safe", "values": {"off": "off", "medium": "active", "high": "active"}},
        "language": {"as": "lr", "values": {**{code: f"lang_{code}" for code in _LANGUAGES.split()}, **_OTHER_NAMES}},
        "country": {"as": "gl", "lower": True},
        "exact_terms": "exactTerms",
        "exclude_terms": "excludeTerms",
        "engine": "cx",
    },
}
