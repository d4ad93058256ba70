"""Returns a list."""

from ferrule import hookimpl


@hookimpl
def schema():
    return {
        "name": "returns_a_list",
        "description": "Returns a list.",
        "parameters": {"type": "object", "properties": {}},
    }


@hookimpl
def execute(arguments, context):
    return [1, 2, 3]
