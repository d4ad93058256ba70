"""Writes a megabyte to stderr."""

import sys

from ferrule import hookimpl


@hookimpl
def schema():
    return {
        "name": "prints_a_megabyte_to_stderr",
        "description": "Writes a megabyte to stderr.",
        "parameters": {"type": "object", "properties": {}},
    }


@hookimpl
def execute(arguments, context):
    sys.stderr.write("complaint\n" * 100_000)
    return {"success": True}
