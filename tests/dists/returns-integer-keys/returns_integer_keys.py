"""Returns an object whose keys are no strings."""

from ferrule import hookimpl


@hookimpl
def schema():
    return {
        "name": "returns_integer_keys",
        "description": "Returns an object whose keys are no strings.",
        "parameters": {"type": "object", "properties": {}},
    }


@hookimpl
def execute(arguments, context):
    return {"counts": {1: "one"}}
