"""Prints when the interpreter ends."""

import atexit

from ferrule import hookimpl


@hookimpl
def schema():
    return {
        "name": "atexit_prints",
        "description": "Prints when the interpreter ends.",
        "parameters": {"type": "object", "properties": {}},
    }


@hookimpl
def execute(arguments, context):
    atexit.register(print, "goodbye")
    return {"success": True}
