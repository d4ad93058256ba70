"""The tool `web_search_new_search`: its hooks."""

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
    """Say which domains are none, and whether the query is blank."""
    from ferrule_websearch import findings

    return findings(arguments)


@hookimpl
def execute(arguments: JSONObject, context: Context) -> JSONObject:
    """Return `{"success", "results", "count"}`, or raise a ToolError with one of the search tools' codes."""
    from ferrule_websearch import Query, search

    from ferrule_new_search import provider

    query = Query.of(arguments, offset=0, limit=arguments.get("count", 10))
    return search(provider.Search(), query, context)


@hookimpl
def result_policy() -> ResultPolicy:
    """Results may be cached for half an hour."""
    return ResultPolicy(cache_seconds=1800, paging=("count",))
