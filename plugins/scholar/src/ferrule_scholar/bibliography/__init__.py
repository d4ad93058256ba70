"""The tool `format_bibliography`: references in a style, or as data."""

from __future__ import annotations

from ferrule import Context, JSONObject, ResultPolicy, hookimpl, static_schema


@hookimpl
def schema() -> JSONObject:
    """Describe the tool, as `schema.json` does."""
    return static_schema(__file__)


@hookimpl
def validate(arguments: JSONObject) -> list[str]:
    """Say which source has no address, a date that cannot be read, or nothing to write a reference from."""
    from ferrule_scholar.bibliography.sources import findings

    return findings(arguments)


@hookimpl
def execute(arguments: JSONObject, context: Context) -> JSONObject:
    """Return `{"style", "entryCount", "bibliography", "trust"}`.

    Raises ToolError, whose details have `kind`, `retryable` and `suggestedAction`.
    """
    from ferrule_scholar.bibliography.call import format_sources

    return format_sources(arguments, context)


@hookimpl
def result_policy() -> ResultPolicy:
    """What may be done with its results: the same sources give the same text."""
    return ResultPolicy(locale=False)
