"""The tool `citation_graph`: what cites a paper, and what it cites."""

from __future__ import annotations

from ferrule import Context, Credential, JSONObject, ResultPolicy, hookimpl, static_credentials, static_schema

CREDENTIALS = static_credentials(__file__)


@hookimpl
def schema() -> JSONObject:
    """Describe the tool, as `schema.json` does."""
    return static_schema(__file__)


@hookimpl
def credentials() -> list[Credential]:
    """Keys that raise what the services allow; none is needed."""
    return CREDENTIALS


@hookimpl
def validate(arguments: JSONObject) -> list[str]:
    """Say that a paper has to be named."""
    return [] if arguments["paper"].strip() else ["paper: it is blank"]


@hookimpl
def execute(arguments: JSONObject, context: Context) -> JSONObject:
    """Return `{"seed", "direction", "provider", "citedBy", "references", "trust"}`, with counts and totals.

    Raises ToolError, whose details have `kind`, `retryable` and `suggestedAction`.
    """
    from ferrule_scholar.graph.call import walk_citations

    return walk_citations(arguments, context)


@hookimpl
def result_policy() -> ResultPolicy:
    """What may be done with its results."""
    return ResultPolicy(cache_seconds=86_400, locale=False, wrappers=("cache",))
