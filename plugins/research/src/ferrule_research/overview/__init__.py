"""The tool `get_research_session`: reads a session back, or one of its steps."""

from __future__ import annotations

from ferrule import Context, JSONObject, hookimpl, static_schema


@hookimpl
def schema() -> JSONObject:
    """Describe the tool, as `schema.json` does."""
    return static_schema(__file__)


@hookimpl
def execute(arguments: JSONObject, context: Context) -> JSONObject:
    """Return the session with an index of its steps, or with `stepId` that step.

    Raises ToolError SESSION_NOT_FOUND, and STEP_NOT_FOUND with the numbers that there are.
    """
    from ferrule_research.overview.call import describe_session

    return describe_session(arguments, context)
