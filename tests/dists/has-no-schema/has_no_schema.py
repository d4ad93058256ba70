"""Executes, and does not describe itself."""

from ferrule import hookimpl


@hookimpl
def execute(arguments, context):
    return {"success": True}
