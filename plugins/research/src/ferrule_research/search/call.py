"""One search: what is wanted, who is asked, and the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ferrule_research.search import provider_order
from ferrule_research.search.errors import failure
from ferrule_research.search.limits import DEFAULT, MOST, domain
from ferrule_research.search.url_identity import canonical, is_page
from ferrule_websearch import Result, SearchProvider, Wanted, host_of, installed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ferrule import Context

TRUST = "untrusted-external-content"

Ignored = list[tuple[str, str]]


def answer(arguments: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """The answer to a call; ToolError where nobody could be asked or nobody answered."""
    texts: dict[str, Any] = {
        name: value.strip() if isinstance(value, str) else value for name, value in arguments.items()
    }
    limit = min(int(texts.get("num_results", DEFAULT)), MOST)
    wanted, ignored = _wanted(texts, limit)
    providers = installed()
    route = _routed(providers, texts, wanted, context)
    made = route.answered
    if made is None:
        raise failure(route.attempts, provider_order.others(providers, route, context))
    ignored += made.ignored
    document = _document(texts, _once(made.results)[:limit], ignored)
    if not document["results"]:
        document["hints"] = _hints(texts, ignored, route, provider_order.others(providers, route, context))
    document["_meta"] = {"routing": route.facts()}
    if made.incomplete:
        document["_meta"]["cacheable"] = False  # what is missing may be there the next time
    return _fitting(document, context)


def _wanted(texts: Mapping[str, Any], limit: int) -> tuple[Wanted, Ignored]:
    ignored: Ignored = []
    sites: Sequence[str] = (domain(texts["site"]),) if texts.get("site") else ()
    engine = ""
    if texts.get("lens"):
        from ferrule_research.search.lenses import lens

        if sites:
            ignored.append(("site", "the lens says which sites are searched"))
        chosen = lens(texts["lens"])
        sites, engine = chosen.sites, chosen.cx
    if texts.get("sessionId"):
        ignored.append(("sessionId", "a search belongs to no session here"))
    wanted = Wanted(
        texts["query"],
        limit,
        sites,
        time_range=texts.get("time_range", ""),
        safe=texts.get("safe", "medium"),
        language=texts.get("language", "").lower(),
        country=texts.get("country", "").upper(),
        exact_terms=texts.get("exact_terms", ""),
        exclude_terms=texts.get("exclude_terms", ""),
        engine=engine,
    )
    return wanted, ignored


def _routed(
    providers: Mapping[str, SearchProvider], texts: Mapping[str, Any], wanted: Wanted, context: Context
) -> provider_order.Route:
    chosen = provider_order.chosen(providers, texts.get("provider", ""), context)
    if wanted.engine:
        chosen = provider_order.with_engine_first(chosen, context)
    return provider_order.ask(chosen, wanted, context)


def _once(results: Sequence[Result]) -> list[Result]:
    """Each page once, as it was found first, and nothing that is no page of the web."""
    first: dict[str, Result] = {}
    for one in results:
        if is_page(one.url):
            first.setdefault(canonical(one.url), one)
    return list(first.values())


def _document(texts: Mapping[str, Any], results: Sequence[Result], ignored: Ignored) -> dict[str, Any]:
    shown = [_shown(one, texts.get("claim", "")) for one in results]
    document: dict[str, Any] = {
        "urls": [one["url"] for one in shown],
        "query": texts["query"],
        "resultCount": len(shown),
        "results": shown,
        "trust": TRUST,
    }
    if texts.get("num_results", DEFAULT) > MOST:
        document["requestedNumResults"] = texts["num_results"]
    if ignored:
        document["ignoredParameters"] = [{"name": name, "why": why} for name, why in ignored]
    return document


def _shown(result: Result, claim: str) -> dict[str, Any]:
    from ferrule_research.reputation import reputation

    host = host_of(result.url)
    shown: dict[str, Any] = {**result._asdict(), "displayLink": host}
    known = reputation(host)
    if known:
        shown["sourceReputation"] = known
    if claim:
        from ferrule_research.claims import claim_signal

        shown["claimSignal"] = claim_signal(claim, result.snippet)
    return shown


def _hints(
    texts: Mapping[str, Any], ignored: Ignored, route: provider_order.Route, others: Sequence[str]
) -> dict[str, Any]:
    from ferrule_research.search.hints import hints

    # A call that names its provider has been tried with that one alone.
    return hints(texts, [name for name, _ in ignored], route.asked, others)


def _fitting(document: dict[str, Any], context: Context) -> dict[str, Any]:
    """The document with as many of its results as the client reads."""
    left_out = 0
    while document["results"] and context.size(document) > context.max_bytes:
        document["results"].pop()
        document["urls"].pop()
        document["resultCount"] -= 1
        left_out += 1
    if left_out:
        content = f"Results that do not fit were left out: {left_out}."
        context.event({"kind": "search_incomplete", "content": content})
    return document
