"""Names its credentials in a way of its own."""

from ferrule import hookimpl


@hookimpl
def schema():
    return {
        "name": "credentials_returns_text",
        "description": "Names its credentials in a way of its own.",
        "parameters": {"type": "object", "properties": {}},
    }


@hookimpl
def credentials():
    return ["ALMANAC_KEY"]


@hookimpl
def execute(arguments, context):
    return {"success": True}
