"""Has a schema with a pattern that takes years to match some values."""

from ferrule import hookimpl, static_schema


@hookimpl
def schema():
    return static_schema(__file__)


@hookimpl
def execute(arguments, context):
    return {"success": True, "city": arguments.get("city")}
