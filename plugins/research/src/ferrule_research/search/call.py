"""One search: what is asked for, who is asked, and the answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from typing import TYPE_CHECKING

from ferrule_research.addresses import canonical
from ferrule_research.search import provider_order
from ferrule_research.search.arguments import DEFAULT_RESULTS, MAX_RESULTS, normalise_texts, parse_domain
from ferrule_research.search.errors import search_error
from ferrule_websearch import (
    Result,
    SearchProvider,
    SearchRequest,
    fit_results,
    host_of,
    installed_providers,
    max_requests,
)

if TYPE_CHECKING:
    from ferrule import Context, JSONObject
    from ferrule.text.json_types import JSONMapping

TRUST = "untrusted-external-content"
_CALL_VARIABLES = ("FERRULE_SEARCH_ROUTING", "FERRULE_LENSES", "FERRULE_DISABLE")

Ignored = list[tuple[str, str]]


def search_web(arguments: JSONMapping, context: Context, until: float = inf) -> JSONObject:
    """The answer to a call; ToolError where no provider could be asked or none answered.

    until: an instant of `time.monotonic()`, by which providers have to answer, where that is before the deadline.
    """
    texts = normalise_texts(arguments)
    request, ignored = _request(texts)
    request = request._replace(max_requests=max_requests(context, 0))
    providers = installed_providers(_CALL_VARIABLES)
    route = _ask(providers, texts.get("provider", ""), request, context, until)
    answered = route.answered
    session = texts.get("sessionId", "")
    if answered is None:
        if session:
            from ferrule_research.search.session_record import record_attempts

            record_attempts(session, route.attempts)
        raise search_error(route.attempts, provider_order.find_others(providers, route, context))
    ignored += answered.ignored
    results = _without_repeats(answered.results)[: request.limit]
    if session:
        from ferrule_research.search.session_record import record_search

        if why := record_search(session, results, route.attempts):
            ignored.append(("sessionId", why))
    document = _document(texts, results, ignored)
    if not document["results"]:
        from ferrule_research.search.hints import make_hints

        others = provider_order.find_others(providers, route, context)
        document["hints"] = make_hints(texts, [name for name, _ in ignored], route.asked, others)
    document["_meta"] = {"routing": route.as_json()}
    is_unrecorded = "sessionId" in (name for name, _ in ignored)
    if is_unrecorded or (answered.incomplete and not answered.is_bounded):
        document["_meta"]["cacheable"] = False  # what is missing may be there the next time
    fit_results(document, context, ["results", "urls"], counter="resultCount")
    return document


def _request(texts: JSONMapping) -> tuple[SearchRequest, Ignored]:
    ignored: Ignored = []
    sites: Sequence[str] = (parse_domain(texts["site"]),) if texts.get("site") else ()
    engine = ""
    if texts.get("lens"):
        from ferrule_research.search.lenses import read_lens

        if sites:
            ignored.append(("site", "the lens says which sites are searched"))
        lens = read_lens(texts["lens"])
        sites, engine = lens.sites, lens.cx
    request = SearchRequest(
        texts["query"],
        min(int(texts.get("num_results", DEFAULT_RESULTS)), MAX_RESULTS),
        sites,
        time_range=texts.get("time_range", ""),
        safe=texts.get("safe", "medium"),
        language=texts.get("language", ""),
        country=texts.get("country", ""),
        exact_terms=texts.get("exact_terms", ""),
        exclude_terms=texts.get("exclude_terms", ""),
        engine=engine,
    )
    return request, ignored


def _ask(
    providers: Mapping[str, SearchProvider], forced: str, request: SearchRequest, context: Context, until: float
) -> provider_order.Route:
    chosen = provider_order.choose(providers, forced, context)
    if request.engine:
        chosen = provider_order.put_engines_first(chosen, context)
    return provider_order.ask(chosen, request, context, until)


def _without_repeats(results: Sequence[Result]) -> list[Result]:
    """Each page once, as it was found first."""
    first: dict[str, Result] = {}
    for one in results:
        first.setdefault(canonical(one.url), one)
    return list(first.values())


def _document(texts: JSONMapping, results: Sequence[Result], ignored: Ignored) -> JSONObject:
    found = [_as_json(one, texts.get("claim", "")) for one in results]
    document: JSONObject = {
        "urls": [one["url"] for one in found],
        "query": texts["query"],
        "resultCount": len(found),
        "results": found,
        "trust": TRUST,
    }
    if texts.get("num_results", DEFAULT_RESULTS) > MAX_RESULTS:
        document["requestedNumResults"] = texts["num_results"]
    if ignored:
        document["ignoredParameters"] = [{"name": name, "why": why} for name, why in ignored]
    return document


def _as_json(result: Result, claim: str) -> JSONObject:
    from ferrule_research.search.reputation import find_reputation

    host = host_of(result.url)
    document: JSONObject = {**result.as_json(), "displayLink": host}
    if extra := document.pop("extra_snippets", None):
        document["extraSnippets"] = extra
    if reputation := find_reputation(host):
        document["sourceReputation"] = reputation
    if claim:
        from ferrule_research.search.claims import find_claim_signal

        document["claimSignal"] = find_claim_signal(claim, result.snippet)
    return document
