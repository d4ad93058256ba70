"""The tool `opennotes_views`: lists the views of a notebook, or runs one."""

from __future__ import annotations

from typing import Any

from ferrule import Context, hookimpl, static_schema


@hookimpl
def schema() -> dict[str, Any]:
    """Describe the tool, as `schema.json` does."""
    return static_schema(__file__)


@hookimpl
def validate(arguments: dict[str, Any]) -> list[str]:
    """Say which parameters are no texts, and what is wrong with the page."""
    from ferrule_opennotes.views.checks import findings

    return findings(arguments)


@hookimpl
def execute(arguments: dict[str, Any], context: Context) -> dict[str, Any]:
    """List the views: `{"views", "notebook"}`; or run one: `{"view", "results", "pagination", "notebook"}`.

    Raises ToolError with CLI_NOT_FOUND, NOTEBOOK_NOT_FOUND, VIEW_NOT_FOUND, INVALID_INPUT, QUERY_TIMEOUT or
    CLI_FAILED.
    """
    from ferrule_opennotes.notebook.resolution import opened
    from ferrule_opennotes.program.discovery import find

    program = find(context)
    notebook = opened(arguments.get("notebook"), program.kind)
    if arguments.get("view") is None:
        from ferrule_opennotes.views.listed import listed

        return listed(notebook, program, context)
    from ferrule_opennotes.answers.pages import bounds
    from ferrule_opennotes.views.execution import executed

    offset, limit = bounds(arguments)
    params = arguments.get("params") or {}
    return executed(arguments["view"], params, notebook, program, context, offset=offset, limit=limit)
