"""Calls abort."""

import os

from ferrule import hookimpl


@hookimpl
def schema():
    return {
        "name": "aborts",
        "description": "Calls abort.",
        "parameters": {"type": "object", "properties": {}},
    }


@hookimpl
def execute(arguments, context):
    os.abort()
