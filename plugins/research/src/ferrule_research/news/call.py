"""One search for news: what is asked for, what is made up for where a provider lacks it, and the answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ferrule_research.kinds.search import TRUST, ask_providers, finish_answer, record_found
from ferrule_research.search.arguments import DEFAULT_RESULTS, findings, normalise_texts, parse_domain
from ferrule_websearch import Result, SearchRequest, days_ago, fit_results, host_of

if TYPE_CHECKING:
    from ferrule import Context, JSONObject
    from ferrule.text.json_types import JSONMapping

MAX_RESULTS = 50
_SAFE = {"off": "off", "moderate": "medium", "strict": "high"}  # in the words of a `SearchRequest`
_FILTERS = ("news_source", "time_range", "country", "language")  # the first is what most probably left nothing
_NAMES = {"site": "news_source"}  # what a request calls otherwise than the caller
_HOUR = 1 / 24
_INSTANT_CHARS = len("2026-01-02T03:04")

Ignored = list[tuple[str, str]]


def find_faults(arguments: JSONObject) -> list[str]:
    """What is wrong with the arguments of a call."""
    found = findings(arguments)
    source = arguments.get("news_source", "").strip()
    if source and not parse_domain(source):
        found.append(f"news_source: {source[:60]!r} is not a domain, write it as example.com")
    return found


def search_news(arguments: JSONMapping, context: Context) -> JSONObject:
    """The answer to a call; ToolError where no provider could be asked or none answered."""
    texts = {"time_range": "week", **normalise_texts(arguments)}
    request = _request(texts)
    found = ask_providers("news", texts.get("provider", ""), request, context)
    ignored = [(_NAMES.get(name, name), why) for name, why in found.answered.ignored]
    results = _within_the_hour(found.results) if request.time_range == "hour" else list(found.results)
    if "sort_by" in request.filters:
        results, ignored = _sort_by_date(results, ignored, found.answered.label)
    results = results[: request.limit]
    ignored += record_found(texts.get("sessionId", ""), found, results, "found")
    articles = [_as_json(one) for one in results]
    document: JSONObject = {"articles": articles, "query": texts["query"], "resultCount": len(articles), "trust": TRUST}
    if texts.get("num_results", DEFAULT_RESULTS) > MAX_RESULTS:
        document["requestedNumResults"] = texts["num_results"]
    finish_answer(document, texts, found, ignored=ignored, filters=_FILTERS, context=context)
    fit_results(document, context, ["articles"], counter="resultCount")
    return document


def _request(texts: JSONMapping) -> SearchRequest:
    source = parse_domain(texts.get("news_source", ""))
    return SearchRequest(
        texts["query"],
        min(int(texts.get("num_results", DEFAULT_RESULTS)), MAX_RESULTS),
        (source,) if source else (),
        time_range=texts["time_range"],
        safe=_SAFE[texts.get("safe", "moderate")],
        language=texts.get("language", ""),
        country=texts.get("country", ""),
        filters={"sort_by": "date"} if texts.get("sort_by") == "date" else {},
    )


def _within_the_hour(results: Sequence[Result]) -> list[Result]:
    """Without what is older, where its instant is known: a provider may have been asked for a day."""
    first = days_ago(_HOUR)
    return [one for one in results if not _is_before(one.published, first)]


def _is_before(published: str, first: str) -> bool:
    """Whether something is older than an instant in UTC. A date alone is, where the instant is of a later day."""
    if len(published) < _INSTANT_CHARS:
        return bool(published) and published < first[: len(published)]
    return published.endswith("Z") and published < first


def _sort_by_date(results: list[Result], ignored: Ignored, label: str) -> tuple[list[Result], Ignored]:
    """The newest first, also where the provider cannot be asked for that; what has no date comes last."""
    ordered = sorted(results, key=lambda one: one.published, reverse=True)
    why = f"{label} has no order by date; what it found by relevance is put in that order"
    return ordered, [(name, why if name == "sort_by" else reason) for name, reason in ignored]


def _as_json(result: Result) -> JSONObject:
    from ferrule_research.page.credibility.classification import UNKNOWN, classify_host
    from ferrule_research.search.reputation import find_reputation

    host = host_of(result.url)
    document: JSONObject = {
        "title": result.title,
        "url": result.url,
        "source": result.details.get("source") or host,
        "snippet": result.snippet,
    }
    if result.published:
        document["publishedAt"] = result.published
    if result.extra_snippets:
        document["extraSnippets"] = list(result.extra_snippets)
    if reputation := find_reputation(host):
        document["sourceReputation"] = reputation
    if (kind := classify_host(result.url).type) != UNKNOWN:
        document["sourceType"] = kind
    return document
