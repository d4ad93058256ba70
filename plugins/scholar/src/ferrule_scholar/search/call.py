"""One search for papers: who is asked, what is made of the answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ferrule_scholar.asking.failure import raise_if_none_answered
from ferrule_scholar.asking.panel import Opinion, ask_all
from ferrule_scholar.asking.query import DATE, WorkQuery
from ferrule_scholar.asking.scholar import SEARCH, Scholar
from ferrule_scholar.asking.settings import patience_of
from ferrule_scholar.enrichment import enrich
from ferrule_scholar.scholars.registry import choose, find_scholars
from ferrule_scholar.search.arguments import (
    DEFAULT_RESULTS,
    MAX_RESULTS,
    normalise_texts,
    read_query,
)
from ferrule_scholar.works.copies import find_copies
from ferrule_scholar.works.union import merge

if TYPE_CHECKING:
    from ferrule import Context, JSONObject
    from ferrule.text.json_types import JSONMapping
    from ferrule_scholar.works.work import Work

TRUST = "untrusted-external-content"
_KNOWING = {"arxiv": ("arxiv", "semanticscholar", "openalex"), "pubmed": ("pubmed", "europepmc", "openalex")}
"""Who is asked where papers of one source alone are wanted; others do not say which papers those are."""


def search_papers(arguments: JSONMapping, context: Context) -> JSONObject:
    """The answer to a call; ToolError where no service answered."""
    texts = normalise_texts(arguments)
    query, wanted = read_query(texts), texts.get("num_results", DEFAULT_RESULTS)
    installed = find_scholars(SEARCH)
    scholars = _choose(installed, query, texts.get("provider", ""))
    opinions = ask_all(scholars, lambda one, client: one.search(query, client), context, patience_of(context))
    raise_if_none_answered(opinions, [name for name in installed if name not in scholars])
    works = [one for one in _merge(opinions) if query.admits(one)]
    if query.sort == DATE:
        works.sort(key=lambda one: one.date or str(one.year), reverse=True)
    limit = min(wanted, MAX_RESULTS)
    enriched = enrich(works[: limit * 2 if query.pdf_only else limit], context)
    papers = [one for one in enriched.works if one.pdf_url or not query.pdf_only]
    document = _document(texts["query"], papers[:limit], opinions)
    for place in find_copies([*papers[:limit], *works[limit:]]):
        if place < len(document["papers"]):
            document["papers"][place]["lowConfidenceDomain"] = True
    document["checks"] = enriched.checks
    if wanted > MAX_RESULTS:
        document["requestedNumResults"] = wanted
    is_passing, ignored = enriched.is_passing, []
    if query.full_text:
        from ferrule_scholar.full_text import add_full_texts, find_full_texts

        found = find_full_texts(papers[:limit], context)
        add_full_texts(document["papers"], found, context)
        document["checks"]["fullText"] = found.as_check()
        is_passing = is_passing or bool(found.why)
    if texts.get("sessionId"):
        from ferrule_scholar.session_record import record_works

        if why := record_works(texts["sessionId"], papers[:limit]):
            ignored.append({"name": "sessionId", "why": why})
            document["_meta"] = {"cacheable": False}  # they may be recorded the next time
    if ignored:
        document["ignoredParameters"] = ignored
    if not document["papers"]:
        from ferrule_scholar.search.hints import make_hints

        document["hints"] = make_hints(query, list(scholars), [name for name in installed if name not in scholars])
    _finish(document, opinions, is_passing, context)
    return document


def _choose(installed: dict[str, Scholar], query: WorkQuery, name: str) -> dict[str, Scholar]:
    knowing = _KNOWING.get(query.source)
    if name or not knowing:
        return choose(installed, name)
    return {one: scholar for one, scholar in installed.items() if one in knowing} or installed


def _merge(opinions: Sequence[Opinion]) -> list[Work]:
    answers: Mapping[str, Sequence[Work]] = {one.name: one.found.works for one in opinions if one.found}
    return merge(answers)


def _document(query: str, papers: Sequence[Work], opinions: Sequence[Opinion]) -> JSONObject:
    answered = [one.name for one in opinions if one.found]
    return {
        "papers": [one.as_json() for one in papers],
        "query": query,
        "totalResults": len(papers),
        "resultCount": len(papers),
        "source": answered[0] if len(answered) == 1 else "several",
        "providers": [one.as_json() for one in opinions],
        "trust": TRUST,
    }


def _finish(document: JSONObject, opinions: Sequence[Opinion], is_passing: bool, context: Context) -> None:
    """Say what is missing, and leave out the last papers where the client would not read them all.

    Args:
        is_passing: whether a check is missing that may be there the next time.
    """
    from ferrule_websearch import fit_results

    missing = [one for one in opinions if one.error]
    if missing:
        document["incomplete"] = " ".join(one.error.message for one in missing if one.error)
    if missing or is_passing:
        document["_meta"] = {"cacheable": False}  # what is missing may be there the next time
    fit_results(document, context, ["papers"], counter="resultCount")
    document["totalResults"] = document["resultCount"]
