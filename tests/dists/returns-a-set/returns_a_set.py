"""Returns an object that holds a set."""

from ferrule import hookimpl, static_schema


@hookimpl
def schema():
    return static_schema(__file__)


@hookimpl
def execute(arguments, context):
    return {"cities": {"Oslo"}}
