"""One search: credentials, requests, answer."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ferrule.errors import ToolError
from ferrule_websearch.endpoint import endpoint_of
from ferrule_websearch.pace.request_budget import RequestBudget, explain_limit, max_requests
from ferrule_websearch.pagination import Query, ResultSet, collect

if TYPE_CHECKING:
    from ferrule import Context, JSONObject
    from ferrule_websearch.provider import Provider
    from ferrule_websearch.provider_client import ProviderClient

EXTRA_SNIPPETS, EXTRA_SNIPPETS_VARIABLE = "extra_snippets", "FERRULE_SEARCH_EXTRA_SNIPPETS"


def search(provider: Provider, query: Query, context: Context) -> JSONObject:
    """What a search tool's `execute` returns: `{"success", "results": [{"title", "url", "snippet"}], "count"}`.

    A result has `published` too where the provider says when that was, and `extra_snippets` where the admin wants them.
    Where a filter leaves too few results, further pages are asked for, as far as the provider's plan, the deadline and
    the bound on requests go. What cut a search short is told in `incomplete` and as an event `search_incomplete`; how
    many results were left out because the client would not read them is told as such an event.

    Raises ToolError: AUTH_MISSING, AUTH_INVALID, RATE_LIMIT (with `retry_after` where it is known), NETWORK_ERROR,
    API_ERROR; CONFIG_ERROR where users have to name a server of their own, and none is named.
    """
    budget = RequestBudget(max_requests(context))
    found = find_results(provider, query, context, budget)
    results = [one.as_json() for one in found.results]
    answer = {"success": True, "results": results, "count": len(results)}
    if reason := stop_reason(found, provider, budget, context):
        answer["incomplete"] = reason
        context.event({"event": "search_incomplete", "content": reason})
        if found.stop_reason:
            answer["_meta"] = {"cacheable": False}  # what is missing may be there the next time
    fit_results(answer, context, ["results"], counter="count")
    return answer


def find_results(provider: Provider, query: Query, context: Context, budget: RequestBudget) -> ResultSet:
    """The results of a query within a budget. Raises ToolError."""
    keys = keys_of(provider, context)
    endpoint_of(provider, context)  # which takes no client either
    has_extra = wants_extra_snippets(context)
    parameters = {**(provider.extra_snippets if has_extra else {}), **query.parameters}
    with _import_client()(provider, keys, context, parameters, budget) as client:
        found = collect(provider.plan(query), query, client.ask, budget)
    return found if has_extra else found._replace(results=[one._replace(extra_snippets=()) for one in found.results])


def stop_reason(found: ResultSet, provider: Provider, budget: RequestBudget, context: Context) -> str:
    """Why results may be missing, "" where none are."""
    if not found.is_bounded:
        return found.stop_reason
    left_out = "the next pages of results were not asked for"
    bound = explain_limit(provider.name, budget.limit, context.tool, left_out)
    return f"{found.stop_reason} {bound}".lstrip()


def wants_extra_snippets(context: Context) -> bool:
    """Whether the admin wants more text of each page: `extra_snippets = true` in the tool's table, or the variable."""
    setting = context.setting(EXTRA_SNIPPETS, EXTRA_SNIPPETS_VARIABLE)
    return setting is True or str(setting).lower() in ("1", "true", "yes", "on")


def fit_results(answer: JSONObject, context: Context, lists: Sequence[str], *, counter: str) -> None:
    """Leave out the last entries of an answer's lists, of equal length, until the client reads it, and tell how many.

    Args:
        counter: the name of their number in the answer.
    """
    left_out = 0
    while answer[counter] and context.size(answer) > context.max_bytes:
        for name in lists:
            answer[name].pop()
        answer[counter] -= 1
        left_out += 1
    if left_out:
        content = f"Results that do not fit were left out: {left_out}."
        context.event({"event": "search_incomplete", "content": content})


def _import_client() -> type[ProviderClient]:
    """Import the client, which a call without a key does not need, and which takes less without the collector."""
    is_first = "ferrule_websearch.provider_client" not in sys.modules and gc.isenabled()
    if is_first:
        gc.disable()
    try:
        from ferrule_websearch.provider_client import ProviderClient
    finally:
        if is_first:
            gc.freeze()  # what was imported stays; without this, the first collection would go through all of it
            gc.enable()
    return ProviderClient


def keys_of(provider: Provider, context: Context) -> dict[str, str]:
    """The values of its credentials. Raises ToolError AUTH_MISSING, with the texts of the provider."""
    try:
        return {one.name: context.credential(one.name) for one in provider.credentials}
    except ToolError as error:
        if error.event is None or provider.setup is None:  # it is set, and cannot be sent: the host says why
            raise
        message, event = provider.setup.message(provider.credentials), provider.setup.event(provider.credentials)
        problem = (error.details or {}).get("problem")
        if problem:  # first of all: a client may show no more than the beginning
            message = f"{problem}\n\n{message}"
        raise ToolError(error.code, message, event=event) from None
