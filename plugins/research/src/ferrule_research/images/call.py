"""One search for images: what is asked for, and the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule_research.kinds.search import TRUST, ask_providers, finish_answer
from ferrule_research.search.arguments import DEFAULT_RESULTS, normalise_texts
from ferrule_websearch import Result, SearchRequest, fit_results, host_of

if TYPE_CHECKING:
    from ferrule import Context, JSONObject
    from ferrule.text.json_types import JSONMapping

MAX_RESULTS = 200
FILTERS = ("size", "type", "color_type", "dominant_color", "file_type")
# The first is what most probably left nothing.
_NARROWING = ("dominant_color", "color_type", "type", "size", "file_type", "country", "language")
_NAMES = {
    "thumbnail": "thumbnailLink",
    "page": "contextLink",
    "width": "width",
    "height": "height",
    "bytes": "fileSize",
}


def search_images(arguments: JSONMapping, context: Context) -> JSONObject:
    """The answer to a call; ToolError where no provider could be asked or none answered."""
    texts = normalise_texts(arguments)
    request = SearchRequest(
        texts["query"],
        min(int(texts.get("num_results", DEFAULT_RESULTS)), MAX_RESULTS),
        safe=texts.get("safe", "medium"),
        language=texts.get("language", ""),
        country=texts.get("country", ""),
        filters={name: texts[name] for name in FILTERS if texts.get(name)},
    )
    found = ask_providers("images", texts.get("provider", ""), request, context)
    images = [_as_json(one) for one in found.results[: request.limit]]
    document: JSONObject = {"images": images, "query": texts["query"], "resultCount": len(images), "trust": TRUST}
    if texts.get("num_results", DEFAULT_RESULTS) > MAX_RESULTS:
        document["requestedNumResults"] = texts["num_results"]
    finish_answer(document, texts, found, ignored=found.answered.ignored, filters=_NARROWING, context=context)
    fit_results(document, context, ["images"], counter="resultCount")
    return document


def _as_json(result: Result) -> JSONObject:
    """An image; `displayLink` is the host of the page that shows it, else its own."""
    details = result.details
    document: JSONObject = {"title": result.title, "link": result.url}
    document["displayLink"] = host_of(str(details.get("page", ""))) or host_of(result.url)
    return document | {_NAMES[name]: value for name, value in details.items() if name in _NAMES}
