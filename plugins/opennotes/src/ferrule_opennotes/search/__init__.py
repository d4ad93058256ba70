"""The tool `opennotes_search`: searches notes by text, by likeness, by conditions or by SQL."""

from __future__ import annotations

from typing import Any

from ferrule import Context, hookimpl, static_schema


@hookimpl
def schema() -> dict[str, Any]:
    """Describe the tool, as `schema.json` does."""
    return static_schema(__file__)


@hookimpl
def validate(arguments: dict[str, Any]) -> list[str]:
    """Say which filters are none, and what cannot be combined."""
    from ferrule_opennotes.search.handler import findings

    return findings(arguments)


@hookimpl
def execute(arguments: dict[str, Any], context: Context) -> dict[str, Any]:
    """Return `{"results", "pagination", "query"}`, and `_guidance` where there is more.

    Raises ToolError with CLI_NOT_FOUND, NOTEBOOK_NOT_FOUND, INVALID_SQL, QUERY_TIMEOUT or CLI_FAILED.
    """
    from ferrule_opennotes.search.handler import answer

    return answer(arguments, context)
