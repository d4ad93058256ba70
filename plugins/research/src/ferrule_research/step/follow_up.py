"""What the sources do not cover yet, queries for it, and what some of these find."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ferrule import ToolError
from ferrule_research.sessions.coverage import measure_coverage, suggest_queries

if TYPE_CHECKING:
    from ferrule import Context, JSONObject
    from ferrule_research.sessions.model import Session

_SEARCHES = 3
_RESULTS = 5
_FIELDS = ("title", "url", "snippet", "published")


def follow_up(session: Session, depth: str, context: Context) -> JSONObject:
    """`{"depth", "coverage", "refinementQueries"}`, and for `thorough` what up to three of the queries find."""
    coverage = measure_coverage(session)
    queries = suggest_queries(session, coverage)
    answer: JSONObject = {"depth": depth, "coverage": coverage, "refinementQueries": queries}
    if depth == "thorough":
        answer.update(_search(queries, context))
    return answer


def _search(queries: list[str], context: Context) -> JSONObject:
    """`{"refinementResults"}`, each with its results or its error; with a warning where one failed."""
    if not queries:
        return {"refinementResults": [], "refinementNote": "There is nothing to search for: no gap is known."}
    found, failed = [], 0
    for number, query in enumerate(queries[:_SEARCHES]):
        share = context.remaining() / (min(len(queries), _SEARCHES) - number + 1)
        try:
            results = _find(query, context, time.monotonic() + share)
        except ToolError as error:
            failed += 1
            found.append({"query": query, "resultCount": 0, "error": error.message})
            continue
        found.append({"query": query, "resultCount": len(results), "results": results})
    warning = {"refinementWarning": f"{failed} of {len(found)} searches failed."} if failed else {}
    return {"refinementResults": found, **warning}


def _find(query: str, context: Context, until: float) -> list[JSONObject]:
    from ferrule_research.search.call import search_web

    found = search_web({"query": query[:500], "num_results": _RESULTS}, context, until)
    return [{name: one[name] for name in _FIELDS if name in one} for one in found["results"]]
