"""Raises while it is imported."""

from ferrule import hookimpl, static_schema

raise RuntimeError("the almanac is out of print")


@hookimpl
def schema():
    return static_schema(__file__)


@hookimpl
def execute(arguments, context):
    return {"success": True}
