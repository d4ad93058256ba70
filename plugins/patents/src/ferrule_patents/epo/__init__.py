"""The tool `patent_search_epo`: searches patents of all offices by the Open Patent Services of the EPO."""

from __future__ import annotations

from ferrule import Context, Credential, JSONObject, ResultPolicy, hookimpl, static_credentials, static_schema

CREDENTIALS = static_credentials(__file__)


@hookimpl
def schema() -> JSONObject:
    """Describe the tool, as `schema.json` does."""
    return static_schema(__file__)


@hookimpl
def credentials() -> list[Credential]:
    """It needs a key and its secret."""
    return CREDENTIALS


@hookimpl
def validate(arguments: JSONObject) -> list[str]:
    """Say what is missing, and what is no symbol, number or span of years."""
    from ferrule_patents.epo.provider import find_faults

    return find_faults(arguments)


@hookimpl
def execute(arguments: JSONObject, context: Context) -> JSONObject:
    """Return the patents: `{"success", "results", "count"}`.

    Raises ToolError with AUTH_MISSING, AUTH_INVALID, RATE_LIMIT, INVALID_INPUT, NETWORK_ERROR or API_ERROR.
    """
    from ferrule_patents.epo.provider import search_patents

    return search_patents(arguments, context)


@hookimpl
def result_policy() -> ResultPolicy:
    """What may be done with its results. Patents change slowly."""
    return ResultPolicy(
        cache_seconds=86_400,
        paging=("count",),
        locale=False,
        fleeting=lambda result: not result.get("results"),
    )
