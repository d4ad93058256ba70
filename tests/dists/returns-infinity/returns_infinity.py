"""Returns an infinity."""

from ferrule import hookimpl


@hookimpl
def schema():
    return {
        "name": "returns_infinity",
        "description": "Returns an infinity.",
        "parameters": {"type": "object", "properties": {}},
    }


@hookimpl
def execute(arguments, context):
    return {"distance": float("inf")}
