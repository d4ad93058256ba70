"""Returns text where findings are expected."""

from ferrule import hookimpl


@hookimpl
def schema():
    return {
        "name": "validate_returns_text",
        "description": "Returns text where findings are expected.",
        "parameters": {"type": "object", "properties": {}},
    }


@hookimpl
def validate(arguments):
    return "all is well"


@hookimpl
def execute(arguments, context):
    return {"success": True}
