"""The tool `web_search_google`: searches the web by the Google Custom Search JSON API."""

from __future__ import annotations

from ferrule import Context, Credential, JSONObject, ResultPolicy, hookimpl, static_credentials, static_schema

CREDENTIALS = static_credentials(__file__)


def normalise(arguments: JSONObject) -> JSONObject:
    """The arguments as a search reads them: blanks around the query do not matter."""
    return {**arguments, "query": arguments["query"].strip()}


@hookimpl
def schema() -> JSONObject:
    """Describe the tool, as `schema.json` does."""
    return static_schema(__file__)


@hookimpl
def credentials() -> list[Credential]:
    """It needs an API key and the id of a search engine."""
    return CREDENTIALS


@hookimpl
def validate(arguments: JSONObject) -> list[str]:
    """Say what Google does not serve, and which domains are none."""
    from ferrule_google.provider import findings

    return findings(arguments)


@hookimpl
def execute(arguments: JSONObject, context: Context) -> JSONObject:
    """Return `num` results from the one at `start` on, 1 being the first: `{"success", "results", "count"}`.

    Raises ToolError with AUTH_MISSING, AUTH_INVALID, RATE_LIMIT, NETWORK_ERROR or API_ERROR.
    """
    from ferrule_google.provider import Google
    from ferrule_websearch import Query, search

    query = Query.of(arguments, offset=arguments.get("start", 1) - 1, limit=arguments.get("num", 10))
    return search(Google(), query, context)


@hookimpl
def result_policy() -> ResultPolicy:
    """What may be done with its results."""
    return ResultPolicy(
        cache_seconds=1800,
        paging=("num", "start"),
        normalise=normalise,
        locale=False,
        fleeting=lambda result: not result.get("results"),
    )
