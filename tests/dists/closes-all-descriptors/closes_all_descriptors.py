"""Closes every descriptor."""

import os

from ferrule import hookimpl


@hookimpl
def schema():
    return {
        "name": "closes_all_descriptors",
        "description": "Closes every descriptor.",
        "parameters": {"type": "object", "properties": {}},
    }


@hookimpl
def execute(arguments, context):
    os.closerange(0, 4096)
    return {"success": True}
