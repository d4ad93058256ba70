"""Returns one byte more than the client reads."""

from ferrule import hookimpl


@hookimpl
def schema():
    return {
        "name": "returns_just_too_much",
        "description": "Returns one byte more than the client reads.",
        "parameters": {"type": "object", "properties": {}},
    }


@hookimpl
def execute(arguments, context):
    return {"text": "x" * (context.max_bytes - len('{"text":""}') + 1)}
