"""What a general search may ask Brave for, in Brave's words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule_brave.provider import MAX_PAGE_RESULTS, MAX_QUERY_CHARS, MAX_QUERY_WORDS

if TYPE_CHECKING:
    from ferrule_websearch import SearchManifest

_LANGUAGES = (
    "ar bg bn ca cs da de el en es et eu fi fr gl gu he hi hr hu is it kn ko lt lv ml mr ms nb nl pa pl ro ru sk sl sr "
    "sv ta te th tr uk vi"
)
_OTHER_NAMES = {"ja": "jp", "no": "nb", "pt": "pt-pt", "zh": "zh-hans"}
_COUNTRIES = (
    "AR AT AU BE BR CA CH CL CN DE DK ES FI FR GB GR HK ID IN IT JP KR MX MY NL NO NZ PH PL PT RU SA SE TR TW US ZA"
)

_LIMITS = {"sites": 10, "characters": MAX_QUERY_CHARS, "words": MAX_QUERY_WORDS}
_SAFE = {"off": "off", "medium": "moderate", "high": "strict"}
_PARAMETERS: dict[str, str | dict[str, object]] = {
    "time_range": {"as": "freshness", "values": {"day": "pd", "week": "pw", "month": "pm", "year": "py"}},
    "safe": {"as": "safesearch", "values": _SAFE},
    "language": {"as": "search_lang", "values": {**{code: code for code in _LANGUAGES.split()}, **_OTHER_NAMES}},
    "country": {"as": "country", "values": _COUNTRIES.split()},
}

SEARCH: SearchManifest = {
    "tool": "web_search_brave",
    "name": "Brave Search",
    "provider": "ferrule_brave.provider:Brave",
    "limits": {"results": MAX_PAGE_RESULTS, **_LIMITS},
    "parameters": _PARAMETERS,
}

NEWS: SearchManifest = {
    "tool": "web_search_brave",
    "name": "Brave Search",
    "kind": "news",
    "provider": "ferrule_brave.kinds:BraveNews",
    "limits": {"results": 50, "served": 500, **_LIMITS},
    "parameters": _PARAMETERS,
}

IMAGES: SearchManifest = {
    "tool": "web_search_brave",
    "name": "Brave Search",
    "kind": "images",
    "provider": "ferrule_brave.kinds:BraveImages",
    "limits": {"results": 200, "served": 200, **_LIMITS},
    "parameters": {
        "safe": {"as": "safesearch", "values": {"off": "off", "medium": "strict", "high": "strict"}},
        "language": _PARAMETERS["language"],
        "country": _PARAMETERS["country"],
    },
}
