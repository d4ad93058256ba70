"""Prints, and does not flush."""

from ferrule import hookimpl, static_schema


@hookimpl
def schema():
    return static_schema(__file__)


@hookimpl
def execute(arguments, context):
    print("fetching Oslo", end="")
    return {"success": True}
