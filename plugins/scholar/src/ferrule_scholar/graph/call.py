"""One hop in the graph of citations: the paper is found, then both directions are asked at the same time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, NamedTuple

from ferrule.errors import ToolError
from ferrule_scholar.asking.failure import raise_if_none_answered
from ferrule_scholar.asking.panel import Opinion, ask_all, ask_each
from ferrule_scholar.asking.scholar import CITATIONS, RECORD, REFERENCES, Found, Scholar
from ferrule_scholar.asking.settings import patience_of, share_of_patience
from ferrule_scholar.enrichment import enrich
from ferrule_scholar.graph.seed import find_seed, missing_seed
from ferrule_scholar.scholars.registry import choose, find_scholars
from ferrule_scholar.works.identifiers import parse_identifier

if TYPE_CHECKING:
    from ferrule import Context, JSONObject
    from ferrule.text.json_types import JSONMapping
    from ferrule_scholar.asking.client import ScholarClient
    from ferrule_scholar.asking.panel import Task
    from ferrule_scholar.works.work import Work

TRUST = "untrusted-external-content"
MAX_RESULTS, DEFAULT_RESULTS = 25, 10
CITED_BY, BOTH = "cited_by", "both"
_PREFERRED = ("semanticscholar", "openalex", "europepmc", "pubmed")
_LISTS = {CITATIONS: "citedBy", REFERENCES: "references"}


class _Hop(NamedTuple):
    """One direction. found: None where it failed."""

    ability: str
    opinion: Opinion


def walk_citations(arguments: JSONMapping, context: Context) -> JSONObject:
    """The answer to a call. Raises ToolError where no service knows the paper, or both directions failed."""
    paper, direction = arguments["paper"].strip(), arguments.get("direction", BOTH)
    wanted = arguments.get("num_results", DEFAULT_RESULTS)
    abilities = _abilities_of(direction)
    scholars = _choose(abilities, arguments.get("provider", "").strip().lower())
    scholar, seed, failed = _find_first(scholars, paper, context)
    hops = _walk(scholar, abilities, seed, min(wanted, MAX_RESULTS), context)
    raise_if_none_answered([hop.opinion for hop in hops], [name for name in scholars if name != scholar.name])
    answer: JSONObject = {"seed": seed.as_json(), "direction": direction, "provider": scholar.name}
    is_influential = bool(arguments.get("influential_only")) and scholar.name == _PREFERRED[0]
    papers, checks = _check([_select(hop, is_influential) for hop in hops], context)
    for hop, works in zip(hops, papers, strict=True):
        answer |= _describe(hop, works)
    answer |= {**checks, "trust": TRUST}
    ignored = [*_list_ignored(arguments, scholar), *_record(arguments.get("sessionId", ""), [seed, *chain(*papers)])]
    _add_notes(answer, ignored, [*failed, *(hop.opinion for hop in hops)])
    if wanted > MAX_RESULTS:
        answer["requestedNumResults"] = wanted
    _fit(answer, context)
    return answer


def _abilities_of(direction: str) -> list[str]:
    if direction == BOTH:
        return [CITATIONS, REFERENCES]
    return [CITATIONS] if direction == CITED_BY else [REFERENCES]


def _choose(abilities: Sequence[str], name: str) -> dict[str, Scholar]:
    """The services that can do all of it, those that say most first, or the one that is named."""
    able = {key: one for key, one in find_scholars(RECORD).items() if one.abilities >= set(abilities)}
    order = [key for key in _PREFERRED if key in able] + [key for key in able if key not in _PREFERRED]
    return choose({key: able[key] for key in order}, name)


def _find_first(
    scholars: Mapping[str, Scholar], paper: str, context: Context
) -> tuple[Scholar, Work, Sequence[Opinion]]:
    """The first service that knows the paper, its record there, and the services that failed before."""
    identifier = parse_identifier(paper)
    failed: list[Opinion] = []
    answered = False
    for number, scholar in enumerate(scholars.values(), start=1):
        seconds = share_of_patience(context, len(scholars) - number + 1)  # the others, and the directions
        (opinion,) = ask_all(
            {scholar.name: scholar}, lambda one, client: find_seed(one, identifier, client), context, seconds
        )
        if opinion.found and opinion.found.works:
            return scholar, opinion.found.works[0], failed
        answered = answered or opinion.found is not None
        failed += [opinion] if opinion.error else []
    if not answered:
        raise_if_none_answered(failed, [])
    raise missing_seed(identifier, list(scholars))


def _walk(scholar: Scholar, abilities: Sequence[str], seed: Work, limit: int, context: Context) -> list[_Hop]:
    """All directions side by side, within one time."""
    opinions = ask_each(scholar, [_make_task(one, seed, limit) for one in abilities], context, patience_of(context))
    return list(map(_Hop, abilities, opinions))


def _make_task(ability: str, seed: Work, limit: int) -> Task:
    def ask(scholar: Scholar, client: ScholarClient) -> Found:
        return (scholar.citations if ability == CITATIONS else scholar.references)(seed, limit, client)

    return ask


def _select(hop: _Hop, is_filtered: bool) -> list[Work]:
    """The papers of one direction."""
    found = hop.opinion.found
    return [one for one in found.works if one.is_influential or not is_filtered] if found else []


def _check(papers: Sequence[list[Work]], context: Context) -> tuple[list[list[Work]], JSONObject]:
    """The papers of all directions with their retractions, which are asked for at once, and what came of that.

    Nothing is kept of an answer that may say more the next time.
    """
    if not any(papers):
        return list(papers), {}
    enriched = enrich(list(chain(*papers)), context, has_access=False)
    works = iter(enriched.works)
    meta: JSONObject = {"_meta": {"cacheable": False}} if enriched.is_passing else {}
    return [list(islice(works, len(part))) for part in papers], {"checks": enriched.checks, **meta}


def _describe(hop: _Hop, works: Sequence[Work]) -> JSONObject:
    """One direction of the answer: the papers, how many they are, and how many the service has."""
    name, found = _LISTS[hop.ability], hop.opinion.found
    total = {} if found is None or found.total is None else {f"{name}Total": found.total}
    return {name: [one.as_json() for one in works], f"{name}Count": len(works), **total}


def _list_ignored(arguments: JSONMapping, scholar: Scholar) -> list[dict[str, str]]:
    if not arguments.get("influential_only") or scholar.name == _PREFERRED[0]:
        return []
    return [{"name": "influential_only", "why": f"{scholar.service.label} does not say which these are"}]


def _record(session: str, papers: Sequence[Work]) -> list[dict[str, str]]:
    """Add the papers to the session that a call names; the argument and the reason where they are not kept."""
    if not session:
        return []
    from ferrule_scholar.session_record import record_works

    why = record_works(session, papers)
    return [{"name": "sessionId", "why": why}] if why else []


def _add_notes(answer: JSONObject, ignored: Sequence[dict[str, str]], opinions: Sequence[Opinion]) -> None:
    """What had no effect, and what failed."""
    if ignored:
        answer["ignoredParameters"] = ignored
    if "sessionId" in (one["name"] for one in ignored):
        answer["_meta"] = {"cacheable": False}  # they may be recorded the next time
    errors = [one.error.message for one in opinions if one.error]
    if errors:
        answer["incomplete"] = " ".join(errors)
        answer["_meta"] = {"cacheable": False}  # what is missing may be there the next time


def _fit(answer: JSONObject, context: Context) -> None:
    """Leave out the last papers, of the longer list first, until the client reads the answer."""
    lists = [name for name in _LISTS.values() if name in answer]
    while context.size(answer) > context.max_bytes:
        longest = max(lists, key=lambda name: len(answer[name]))
        if not answer[longest]:
            raise ToolError("API_ERROR", "The record of the paper is longer than the client reads.")
        answer[longest].pop()
        answer[f"{longest}Count"] -= 1
