"""Raises when it is asked what it needs."""

from ferrule import hookimpl, static_schema


@hookimpl
def schema():
    return static_schema(__file__)


@hookimpl
def credentials():
    raise OSError("the key ring is locked")


@hookimpl
def execute(arguments, context):
    return {"success": True}
