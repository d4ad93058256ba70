"""Returns a NUL character."""

from ferrule import hookimpl


@hookimpl
def schema():
    return {
        "name": "returns_nul",
        "description": "Returns a NUL character.",
        "parameters": {"type": "object", "properties": {}},
    }


@hookimpl
def execute(arguments, context):
    return {"text": "before\0after"}
