"""Returns an object that holds bytes."""

from ferrule import hookimpl


@hookimpl
def schema():
    return {
        "name": "returns_bytes",
        "description": "Returns an object that holds bytes.",
        "parameters": {"type": "object", "properties": {}},
    }


@hookimpl
def execute(arguments, context):
    return {"page": {"body": b"Oslo"}}
