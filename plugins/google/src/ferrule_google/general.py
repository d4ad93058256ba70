"""What a general search may ask Google for, in Google's words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule_google.provider import LAST_PLACE, MAX_PAGE_RESULTS

if TYPE_CHECKING:
    from ferrule_websearch import SearchManifest

_LANGUAGES = (
    "ar bg ca cs da de el en es et fi fr hr hu id is it ja ko lt lv nl no pl pt ro ru sk sl sr sv tr"  # of `lr`
)
_OTHER_NAMES = {"he": "lang_iw", "nb": "lang_no", "nn": "lang_no", "zh": "lang_zh-CN|lang_zh-TW"}

_LIMITS = {"results": MAX_PAGE_RESULTS, "sites": 10, "characters": 2048}
_ALWAYS: dict[str, str | dict[str, object]] = {
    "safe": {"as": "safe", "values": {"off": "off", "medium": "active", "high": "active"}},
    "language": {"as": "lr", "values": {**{code: f"lang_{code}" for code in _LANGUAGES.split()}, **_OTHER_NAMES}},
    "country": {"as": "gl", "lower": True},
}
_TIMES = {"as": "dateRestrict", "values": {"day": "d1", "week": "w1", "month": "m1", "year": "y1"}}

SEARCH: SearchManifest = {
    "tool": "web_search_google",
    "name": "Google Custom Search",
    "provider": "ferrule_google.provider:Google",
    "limits": _LIMITS,
    "parameters": {
        **_ALWAYS,
        "time_range": _TIMES,
        "exact_terms": "exactTerms",
        "exclude_terms": "excludeTerms",
        "engine": "cx",
    },
}

NEWS: SearchManifest = {
    "tool": "web_search_google",
    "name": "Google Custom Search",
    "kind": "news",
    "provider": "ferrule_google.provider:Google",
    "limits": {**_LIMITS, "served": LAST_PLACE},
    "parameters": {**_ALWAYS, "time_range": _TIMES, "sort_by": {"as": "sort", "values": {"date": "date"}}},
    "warning": "Google Custom Search has no index of news: these are web pages of that time, of any kind of publisher.",
}

IMAGES: SearchManifest = {
    "tool": "web_search_google",
    "name": "Google Custom Search",
    "kind": "images",
    "provider": "ferrule_google.images:GoogleImages",
    "limits": {**_LIMITS, "served": LAST_PLACE},
    "parameters": {
        **_ALWAYS,
        "size": "imgSize",
        "type": "imgType",
        "color_type": "imgColorType",
        "dominant_color": "imgDominantColor",
        "file_type": "fileType",
    },
}
