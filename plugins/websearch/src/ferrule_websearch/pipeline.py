"""One search: credentials, questions, answer."""

from __future__ import annotations

import gc
import sys
from typing import TYPE_CHECKING, Any

from ferrule.errors import ToolError
from ferrule_websearch.pagination import Query, collect

if TYPE_CHECKING:
    from ferrule.tool.context import Context
    from ferrule_websearch.provider import Provider
    from ferrule_websearch.provider_client import Asker


def search(provider: Provider, query: Query, context: Context) -> dict[str, Any]:
    """What a search tool's `execute` returns: `{"success", "results": [{"title", "url", "snippet"}], "count"}`.

    Where a filter leaves too few results, further pages are asked for, as far as the provider's plan and the deadline
    go. What cut a search short after its first results is told as an event `search_incomplete`, and so is how many
    results were left out because the client would not read them.

    Raises ToolError: AUTH_MISSING, AUTH_INVALID, RATE_LIMIT (with `retry_after` where it is known), NETWORK_ERROR,
    API_ERROR.
    """
    keys = keys_of(provider, context)
    with _asker_class()(provider, keys, context, query.parameters) as asker:
        found = collect(provider.plan(query), query, asker.ask)
    answer = _fitting([result._asdict() for result in found.results], context)
    left_out = len(found.results) - answer["count"]
    for reason in filter(None, (found.stopped, left_out and f"Results that do not fit were left out: {left_out}.")):
        context.event({"kind": "search_incomplete", "content": reason})
    return answer


def _asker_class() -> type[Asker]:
    """Import the client, which a call without a key does not need, and which takes less without the collector."""
    is_first = "ferrule_websearch.provider_client" not in sys.modules and gc.isenabled()
    if is_first:
        gc.disable()
    try:
        from ferrule_websearch.provider_client import Asker
    finally:
        if is_first:
            gc.freeze()  # what was imported stays; without this, the first collection would go through all of it
            gc.enable()
    return Asker


def keys_of(provider: Provider, context: Context) -> dict[str, str]:
    """The values of its credentials. Raises ToolError AUTH_MISSING, with the texts of the provider."""
    try:
        return {one.name: context.credential(one.name) for one in provider.credentials}
    except ToolError as error:
        if error.event is None or not provider.setup:  # it is set, and cannot be sent: the host says why
            raise
        problem = (error.details or {}).get("problem")
        raise ToolError(
            error.code, provider.setup, hint=str(problem) if problem else None, event=provider.setup_event
        ) from None


def _fitting(results: list[dict[str, str]], context: Context) -> dict[str, Any]:
    """The answer with as many of the results as the client reads."""
    while True:
        answer = {"success": True, "results": results, "count": len(results)}
        if not results or context.size(answer) <= context.max_bytes:
            return answer
        results = results[:-1]
