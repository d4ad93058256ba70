"""Ends its process."""

import os

from ferrule import hookimpl


@hookimpl
def schema():
    return {
        "name": "calls_os_exit",
        "description": "Ends its process.",
        "parameters": {"type": "object", "properties": {}},
    }


@hookimpl
def execute(arguments, context):
    os._exit(3)
