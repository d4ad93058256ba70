"""The tool `opennotes_get`: gives one note, in pages where it is long."""

from __future__ import annotations

from typing import Any

from ferrule import Context, hookimpl, static_schema


@hookimpl
def schema() -> dict[str, Any]:
    """Describe the tool, as `schema.json` does."""
    return static_schema(__file__)


@hookimpl
def execute(arguments: dict[str, Any], context: Context) -> dict[str, Any]:
    """Return `{"note", "notebook"}`, and `pagination` and `_guidance` where the content does not fit one answer.

    Raises ToolError with CLI_NOT_FOUND, NOTEBOOK_NOT_FOUND, NOTE_NOT_FOUND or PATH_TRAVERSAL.
    """
    from ferrule_opennotes.get.handler import answer

    return answer(arguments, context)
