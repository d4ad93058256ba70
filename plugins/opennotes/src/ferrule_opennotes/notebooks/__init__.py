"""The tool `opennotes_notebooks`: lists the notebooks that there are."""

from __future__ import annotations

from typing import Any

from ferrule import Context, hookimpl, static_schema


@hookimpl
def schema() -> dict[str, Any]:
    """Describe the tool, as `schema.json` does."""
    return static_schema(__file__)


@hookimpl
def execute(arguments: dict[str, Any], context: Context) -> dict[str, Any]:
    """Return `{"notebooks", "current"}`; `current` is null outside of every notebook.

    Raises ToolError with CLI_NOT_FOUND.
    """
    from ferrule_opennotes.notebooks.handler import answer

    return answer(context)
