"""One search: credentials, requests, answer."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ferrule.errors import ToolError
from ferrule_websearch.pagination import Query, collect

if TYPE_CHECKING:
    from ferrule import Context, JSONObject
    from ferrule_websearch.provider import Provider
    from ferrule_websearch.provider_client import ProviderClient


def search(provider: Provider, query: Query, context: Context) -> JSONObject:
    """What a search tool's `execute` returns: `{"success", "results": [{"title", "url", "snippet"}], "count"}`.

    Where a filter leaves too few results, further pages are asked for, as far as the provider's plan and the deadline
    go. What cut a search short after its first results is told as an event `search_incomplete`, and so is how many
    results were left out because the client would not read them.

    Raises ToolError: AUTH_MISSING, AUTH_INVALID, RATE_LIMIT (with `retry_after` where it is known), NETWORK_ERROR,
    API_ERROR.
    """
    keys = keys_of(provider, context)
    with _import_client()(provider, keys, context, query.parameters) as client:
        found = collect(provider.plan(query), query, client.ask)
    if found.stop_reason:
        context.event({"event": "search_incomplete", "content": found.stop_reason})
    answer = {"success": True, "results": [one._asdict() for one in found.results], "count": len(found.results)}
    fit_results(answer, context, ["results"], counter="count")
    return answer


def fit_results(answer: JSONObject, context: Context, lists: Sequence[str], *, counter: str) -> None:
    """Leave out the last entries of an answer's lists, of equal length, until the client reads it, and tell how many.

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
        raise ToolError(error.code, message, hint=str(problem) if problem else None, event=event) from None
