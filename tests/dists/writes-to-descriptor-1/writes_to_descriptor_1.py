"""Writes to descriptor 1."""

import os

from ferrule import hookimpl


@hookimpl
def schema():
    return {
        "name": "writes_to_descriptor_1",
        "description": "Writes to descriptor 1.",
        "parameters": {"type": "object", "properties": {}},
    }


@hookimpl
def execute(arguments, context):
    os.write(1, b'{"success": "forged"}\n')
    return {"success": True}
