"""One search of a kind: its providers are asked as those of the web are, and the answer has what they say."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from ferrule_research.addresses import canonical
from ferrule_research.search import provider_order
from ferrule_research.search.errors import configuration_error, search_error
from ferrule_websearch import Attempt, Result, SearchProvider, SearchRequest, installed_providers, max_requests

if TYPE_CHECKING:
    from ferrule import Context, JSONObject
    from ferrule.text.json_types import JSONMapping

TRUST = "untrusted-external-content"
_CALL_VARIABLES = ("FERRULE_SEARCH_ROUTING", "FERRULE_DISABLE")


class Found(NamedTuple):
    """What a provider found. providers: all of the kind. results: each page or image once, as many as were wanted."""

    providers: dict[str, SearchProvider]
    route: provider_order.Route
    answered: Attempt
    results: Sequence[Result]


def ask_providers(kind: str, forced: str, request: SearchRequest, context: Context, until: float = inf) -> Found:
    """The results of the first provider that answers.

    Args:
        kind: of search, as `ferrule_websearch.manifest` has them.
        forced: the provider that the call names, "" for any.
        until: an instant of `time.monotonic()`, by which one has to answer, where that is before the deadline.

    Raises:
        ToolError where no provider could be asked or none answered.
    """
    providers = installed_providers(_CALL_VARIABLES, kind)
    if not providers:
        hint = "Install one, such as ferrule-brave."
        raise configuration_error(f"No search provider that searches for {kind} is installed.", hint)
    request = request._replace(max_requests=max_requests(context, 0))
    chosen = provider_order.choose(providers, forced, context, kind)
    route = provider_order.ask(chosen, request, context, until)
    if route.answered is None:
        raise search_error(route.attempts, provider_order.find_others(providers, route, context))
    unique: dict[str, Result] = {}
    for one in route.answered.results:
        unique.setdefault(canonical(one.url), one)
    return Found(providers, route, route.answered, list(unique.values()))


def record_found(session: str, found: Found, results: Sequence[Result], relevance: str) -> list[tuple[str, str]]:
    """Add the results of an answer to the session that the call names; the argument and why, where that failed."""
    if not session:
        return []
    from ferrule_research.search.session_record import record_search

    why = record_search(session, results, found.route.attempts, relevance)
    return [("sessionId", why)] if why else []


def finish_answer(
    document: JSONObject,
    texts: JSONMapping,
    found: Found,
    *,
    ignored: Sequence[tuple[str, str]],
    filters: Sequence[str],
    context: Context,
) -> None:
    """Add what an answer has apart from its results: what had no effect, hints, the warning, and who was asked.

    Args:
        document: the answer, with `resultCount`.
        texts: the arguments.
        ignored: names and reasons.
        filters: names of arguments that may have left nothing, the likeliest first.
    """
    if ignored:
        document["ignoredParameters"] = [{"name": name, "why": why} for name, why in ignored]
    if not document["resultCount"]:
        from ferrule_research.search.hints import make_hints

        others = provider_order.find_others(found.providers, found.route, context)
        names = [name for name, _ in ignored]
        document["hints"] = make_hints(texts, names, found.route.asked, others, filters)
    elif found.answered.warning:
        document["warning"] = found.answered.warning
    document["_meta"] = {"routing": found.route.as_json()}
    is_unrecorded = "sessionId" in (name for name, _ in ignored)
    if is_unrecorded or (found.answered.incomplete and not found.answered.is_bounded):
        document["_meta"]["cacheable"] = False  # what is missing may be there the next time
