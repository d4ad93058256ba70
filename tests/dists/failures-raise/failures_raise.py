"""Raises while it renders a failure."""

from ferrule import ToolError, hookimpl, static_schema


@hookimpl
def schema():
    return static_schema(__file__)


@hookimpl
def execute(arguments, context):
    raise ToolError("NO_ALMANAC", "There is no almanac.")


def rendered(facts):
    raise RuntimeError("not that too")
