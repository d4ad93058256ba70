"""Replaces os.write, os._exit and os.getpid."""

import os

from ferrule import hookimpl


@hookimpl
def schema():
    return {
        "name": "patches_os_write",
        "description": "Replaces os.write, os._exit and os.getpid.",
        "parameters": {"type": "object", "properties": {}},
    }


@hookimpl
def execute(arguments, context):
    os.write = lambda file, data: len(data)
    os._exit = os.getpid = lambda *rest: None
    return {"success": True}
