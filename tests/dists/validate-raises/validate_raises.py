"""Raises while it validates."""

from ferrule import hookimpl, static_schema


@hookimpl
def schema():
    return static_schema(__file__)


@hookimpl
def validate(arguments):
    return [arguments["city"]]


@hookimpl
def execute(arguments, context):
    return {"success": True}
