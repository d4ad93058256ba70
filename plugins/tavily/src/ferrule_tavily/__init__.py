"""The tool `web_search_tavily`: searches the web by the Tavily Search API."""

from __future__ import annotations

from ferrule import Context, Credential, JSONObject, ResultPolicy, hookimpl, static_credentials, static_schema

CREDENTIALS = static_credentials(__file__)


@hookimpl
def schema() -> JSONObject:
    """Describe the tool, as `schema.json` does."""
    return static_schema(__file__)


@hookimpl
def credentials() -> list[Credential]:
    """It needs an API key."""
    return CREDENTIALS


@hookimpl
def validate(arguments: JSONObject) -> list[str]:
    """Say what Tavily cannot search for, and which domains are none."""
    from ferrule_tavily.provider import findings

    return findings(arguments)


@hookimpl
def execute(arguments: JSONObject, context: Context) -> JSONObject:
    """Return the results `offset` … `offset + count - 1`: `{"success", "results", "count"}`.

    Raises ToolError with AUTH_MISSING, AUTH_INVALID, RATE_LIMIT, NETWORK_ERROR or API_ERROR.
    """
    from ferrule_tavily.provider import MAX_RESULTS, Tavily, parameters_of
    from ferrule_websearch import Query, count_of, search

    query = Query.of(arguments, offset=arguments.get("offset", 0), limit=count_of(arguments, MAX_RESULTS))
    return search(Tavily(), query._replace(parameters=parameters_of(arguments)), context)


@hookimpl
def result_policy() -> ResultPolicy:
    """What may be done with its results."""
    return ResultPolicy(
        cache_seconds=1800,
        paging=("count", "offset"),
        locale=False,
        fleeting=lambda result: not result.get("results"),
    )
