"""Returns an integer with more digits than Python writes."""

from ferrule import hookimpl


@hookimpl
def schema():
    return {
        "name": "returns_an_endless_integer",
        "description": "Returns an integer with more digits than Python writes.",
        "parameters": {"type": "object", "properties": {}},
    }


@hookimpl
def execute(arguments, context):
    return {"number": 10**10_000}
