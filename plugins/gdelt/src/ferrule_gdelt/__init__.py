"""The tool `news_search_gdelt`: searches the news of the world by the GDELT project, which wants no key."""

from __future__ import annotations

from ferrule import Context, JSONObject, ResultPolicy, hookimpl, static_schema


@hookimpl
def schema() -> JSONObject:
    """Describe the tool, as `schema.json` does."""
    return static_schema(__file__)


@hookimpl
def validate(arguments: JSONObject) -> list[str]:
    """Say which domains are none, and which language and country GDELT does not know."""
    from ferrule_gdelt.provider import findings

    return findings(arguments)


@hookimpl
def execute(arguments: JSONObject, context: Context) -> JSONObject:
    """Return the articles: `{"success", "results", "count"}`. A result has no snippet, since GDELT has none.

    Raises ToolError with RATE_LIMIT, INVALID_INPUT, NETWORK_ERROR or API_ERROR.
    """
    from ferrule_gdelt.provider import GDELT, parameters_of, query_of
    from ferrule_websearch import search

    return search(GDELT(), query_of(arguments)._replace(parameters=parameters_of(arguments)), context)


@hookimpl
def result_policy() -> ResultPolicy:
    """What may be done with its results. GDELT has new articles every quarter of an hour."""
    return ResultPolicy(
        cache_seconds=900,
        paging=("count",),
        locale=False,
        fleeting=lambda result: not result.get("results"),
    )
