"""Ships one schema, and returns another."""

from ferrule import hookimpl


@hookimpl
def schema():
    return {
        "name": "schema_and_file_differ",
        "description": "As the hook has it.",
        "parameters": {"type": "object", "properties": {}},
    }


@hookimpl
def execute(arguments, context):
    return {"success": True}
