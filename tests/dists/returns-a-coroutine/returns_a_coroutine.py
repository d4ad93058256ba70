"""Is written with async def."""

from ferrule import hookimpl


@hookimpl
def schema():
    return {
        "name": "returns_a_coroutine",
        "description": "Is written with async def.",
        "parameters": {"type": "object", "properties": {}},
    }


@hookimpl
async def execute(arguments, context):
    return {"success": True}
