"""The tool `sequential_search`: records one step of a research in a session, and says where the session stands.

`call` is one step, `succession` what may follow what, and `follow_up` what `depth` asks for.
"""

from __future__ import annotations

from ferrule import Context, JSONObject, hookimpl, static_schema


@hookimpl
def schema() -> JSONObject:
    """Describe the tool, as `schema.json` does."""
    return static_schema(__file__)


@hookimpl
def validate(arguments: JSONObject) -> list[str]:
    """Say what does not go together, as far as that is known without the session."""
    from ferrule_research.step.succession import find_contradictions

    return find_contradictions(arguments)


@hookimpl
def execute(arguments: JSONObject, context: Context) -> JSONObject:
    """Keep the step, and return the session: all steps of up to eight, else an index of them.

    Raises ToolError: SESSION_NOT_FOUND, SESSION_COMPLETE, and INVALID_INPUT for a step that does not follow.
    """
    from ferrule_research.step.call import add_step

    return add_step(arguments, context)
