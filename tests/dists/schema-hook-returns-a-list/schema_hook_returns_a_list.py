"""Returns a list where a schema is expected."""

from ferrule import hookimpl


@hookimpl
def schema():
    return ["name", "description", "parameters"]


@hookimpl
def execute(arguments, context):
    return {"success": True}
