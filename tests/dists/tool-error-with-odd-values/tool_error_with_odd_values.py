"""Raises a ToolError of which nothing is what it should be."""

from ferrule import ToolError, hookimpl, static_schema


@hookimpl
def schema():
    return static_schema(__file__)


@hookimpl
def execute(arguments, context):
    raise ToolError(
        404,
        "half a letter: \ud800, and a \0",
        hint={"not": "text"},
        details={"circle": print},
        retry_after=float("nan"),
        event={"kind": object()},
    )
