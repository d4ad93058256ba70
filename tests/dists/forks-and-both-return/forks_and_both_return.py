"""Forks, and both processes return."""

import os

from ferrule import hookimpl


@hookimpl
def schema():
    return {
        "name": "forks_and_both_return",
        "description": "Forks, and both processes return.",
        "parameters": {"type": "object", "properties": {}},
    }


@hookimpl
def execute(arguments, context):
    return {"success": True, "is_a_copy": os.fork() == 0}
