"""Returns a schema that JSON cannot hold."""

from ferrule import hookimpl


@hookimpl
def schema():
    return {
        "name": "schema_hook_returns_nan",
        "description": "Has a limit that is no number.",
        "parameters": {"type": "object", "properties": {"x": {"type": "number", "minimum": float("nan")}}},
    }


@hookimpl
def execute(arguments, context):
    return {"success": True}
