"""Raises a ToolError that was never initialised."""

from ferrule import ToolError, hookimpl


@hookimpl
def schema():
    return {
        "name": "tool_error_without_init",
        "description": "Raises a ToolError that was never initialised.",
        "parameters": {"type": "object", "properties": {}},
    }


class Bare(ToolError):
    def __init__(self):
        pass


@hookimpl
def execute(arguments, context):
    raise Bare
