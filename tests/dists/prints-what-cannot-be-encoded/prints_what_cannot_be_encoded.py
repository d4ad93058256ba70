"""Prints half a character."""

from ferrule import hookimpl, static_schema


@hookimpl
def schema():
    return static_schema(__file__)


@hookimpl
def execute(arguments, context):
    print("half \ud83d of it, in Malmö")
    return {"success": True}
