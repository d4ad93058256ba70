"""The tool `web_search_searxng`: searches the web by a SearXNG instance of the user."""

from __future__ import annotations

from ferrule import Context, JSONObject, ResultPolicy, hookimpl, static_schema


@hookimpl
def schema() -> JSONObject:
    """Describe the tool, as `schema.json` does."""
    return static_schema(__file__)


@hookimpl
def validate(arguments: JSONObject) -> list[str]:
    """Say which domains are none, and what a query leads to that has no results."""
    from ferrule_searxng.provider import findings

    return findings(arguments)


@hookimpl
def execute(arguments: JSONObject, context: Context) -> JSONObject:
    """Return the results `offset` … `offset + count - 1`, counted from `page` on: `{"success", "results", "count"}`.

    Raises ToolError with CONFIG_ERROR, AUTH_INVALID, RATE_LIMIT, NETWORK_ERROR or API_ERROR.
    """
    from ferrule_searxng.provider import SearXNG, parameters_of
    from ferrule_websearch import Query, search

    query = Query.of(arguments, offset=arguments.get("offset", 0), limit=arguments.get("count", 10))
    return search(SearXNG(arguments.get("page", 1)), query._replace(parameters=parameters_of(arguments)), context)


@hookimpl
def result_policy() -> ResultPolicy:
    """What may be done with its results."""
    return ResultPolicy(
        cache_seconds=1800,
        paging=("count", "offset", "page"),
        locale=False,
        fleeting=lambda result: not result.get("results"),
    )
