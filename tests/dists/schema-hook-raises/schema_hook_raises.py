"""Raises when it is asked for its schema."""

from ferrule import hookimpl


@hookimpl
def schema():
    raise LookupError("no schema today")


@hookimpl
def execute(arguments, context):
    return {"success": True}
