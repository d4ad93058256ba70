"""One search for patents: an office is asked whose key is set, or else the web; and the answer."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from math import inf
from typing import TYPE_CHECKING

from ferrule import ToolError
from ferrule_research.kinds.search import TRUST, Found, ask_providers, finish_answer, record_found
from ferrule_research.patents.arguments import (
    DEFAULT_RESULTS,
    FILTERS,
    MAX_RESULTS,
    filters_of,
    number_in,
    search_url,
)
from ferrule_research.patents.web import list_unfiltered, search_pages
from ferrule_research.search.arguments import normalise_texts
from ferrule_websearch import Result, SearchRequest, fit_results, installed_providers

if TYPE_CHECKING:
    from ferrule import Context, JSONObject
    from ferrule.text.json_types import JSONMapping

_LANDSCAPE_RESULTS = 25  # from which the largest owners are named
_MAX_ABSTRACT_CHARS = 500
_NAMES = ("assignee", "inventor", "filed", "granted", "status")
_SUFFIX = re.compile(r"[\s,]+(?:inc|llc|ltd|corp|co|gmbh|ag|corporation|limited|kg|sa|nv|bv|plc)\.?\Z", re.I)
_OFFICES_SHARE = 0.5  # of the call's time, since the web is searched where all offices are silent
_COVERAGE = "coverage_miss"  # the reason where nothing was found by what knows few patents
_WEB = "web_search"  # the source of an answer that no office gave


def search_patents(arguments: JSONMapping, context: Context) -> JSONObject:
    """The answer to a call; ToolError where no provider could be asked or none answered."""
    texts = {"search_type": "prior_art", "query": "", **normalise_texts(arguments)}
    wanted = min(int(texts.get("num_results", DEFAULT_RESULTS)), MAX_RESULTS)
    is_landscape = texts["search_type"] == "landscape"
    limit = _LANDSCAPE_RESULTS if is_landscape else wanted
    found, warning, is_passing = _ask(texts, limit, context)
    ignored = [*found.answered.ignored, *(list_unfiltered(texts) if warning else ())]
    results, clusters = list(found.results)[:limit], None
    if is_landscape:
        results, clusters = _group_by_assignee(results)
    ignored += record_found(texts.get("sessionId", ""), found, results[:wanted], "patent")
    document: JSONObject = {
        "patents": [_as_json(one) for one in results[:wanted]],
        "query": texts["query"],
        "searchType": texts["search_type"],
        "resultCount": min(len(results), wanted),
        "source": _WEB if warning else found.answered.provider,
        "searchUrl": search_url(texts),
        "trust": TRUST,
    }
    if clusters is not None:
        document["assigneeClusters"] = clusters
    if texts.get("num_results", DEFAULT_RESULTS) > MAX_RESULTS:
        document["requestedNumResults"] = texts["num_results"]
    if warning:
        document["warning"] = warning
    finish_answer(document, texts, found, ignored=ignored, filters=FILTERS, context=context)
    if warning and "hints" in document:
        document["hints"]["reason"] = _COVERAGE  # which counts for more than any filter
    if is_passing:
        document["_meta"]["cacheable"] = False  # an office may answer the next time
    fit_results(document, context, ["patents"], counter="resultCount")
    return document


def _ask(texts: JSONMapping, limit: int, context: Context) -> tuple[Found, str, bool]:
    """What was found, the warning where it is by a search of the web, and whether that is for a moment's failure.

    A provider that the call names is asked alone. Where no office can be asked or none answers, the web is searched.
    """
    forced = texts.get("provider", "")
    if forced and forced not in installed_providers(kind="patents") and forced in installed_providers():
        return search_pages(texts, forced, limit, context), _warning("a provider of the web was asked for"), False
    number = number_in(texts)
    filters = {**filters_of(texts), **({"number": number} if number else {})}
    request = SearchRequest("" if number else texts["query"], limit, filters=filters)
    until = inf if forced else time.monotonic() + context.remaining() * _OFFICES_SHARE
    try:
        return ask_providers("patents", forced, request, context, until), "", False
    except ToolError as error:
        if forced:
            raise
        is_set, reason = (error.details or {}).get("kind") != "config", _reason(error)
    return search_pages(texts, "", limit, context), _warning(reason), is_set


def _reason(error: ToolError) -> str:
    """Why no office has answered."""
    if (error.details or {}).get("kind") == "config":
        return "no key of a patent office is set"
    return f"no patent office answered ({error.message.rstrip('.')})"


def _warning(reason: str) -> str:
    return (
        f"These are pages of Google Patents that a search of the web found, since {reason}. They have no dates and no "
        "owners, and the search knows few of the patents there are. Keys of EPO or USPTO give whole records."
    )


def _as_json(result: Result) -> JSONObject:
    abstract = result.snippet
    if len(abstract) > _MAX_ABSTRACT_CHARS:
        abstract = abstract[:_MAX_ABSTRACT_CHARS] + "..."
    details = result.details
    document: JSONObject = {"title": result.title, "number": details.get("number", ""), "url": result.url}
    document |= {name: details[name] for name in _NAMES if details.get(name)}
    if result.published:
        document["published"] = result.published
    return document | ({"abstract": abstract} if abstract else {})


def _group_by_assignee(results: Sequence[Result]) -> tuple[list[Result], list[JSONObject]]:
    """The patents of the largest owners first, those without an owner last; and how many each has."""
    groups: dict[str, list[Result]] = {}
    for one in results:
        groups.setdefault(_owner(one).casefold(), []).append(one)
    ordered = sorted(groups.items(), key=lambda group: (not group[0], -len(group[1])))
    clusters = [{"assignee": _owner(members[0]), "count": len(members)} for name, members in ordered if name]
    return [one for _, members in ordered for one in members], clusters


def _owner(result: Result) -> str:
    """The first of its owners, without what says which form of company that is."""
    return _SUFFIX.sub("", str(result.details.get("assignee", "")).split(";")[0].strip())
