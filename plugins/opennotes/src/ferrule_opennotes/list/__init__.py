"""The tool `opennotes_list`: lists the notes of a notebook."""

from __future__ import annotations

from typing import Any

from ferrule import Context, hookimpl, static_schema


@hookimpl
def schema() -> dict[str, Any]:
    """Describe the tool, as `schema.json` does."""
    return static_schema(__file__)


@hookimpl
def validate(arguments: dict[str, Any]) -> list[str]:
    """Say where `limit` and `offset` are no whole numbers."""
    from ferrule_opennotes.answers.pages import findings

    return findings(arguments)


@hookimpl
def execute(arguments: dict[str, Any], context: Context) -> dict[str, Any]:
    """Return `{"notes", "notebook", "pagination"}`, and `_guidance` where there is more.

    Raises ToolError with CLI_NOT_FOUND, NOTEBOOK_NOT_FOUND or PATH_TRAVERSAL.
    """
    from ferrule_opennotes.list.handler import answer

    return answer(arguments, context)
