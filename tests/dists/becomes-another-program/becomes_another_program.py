"""Replaces its process by another program."""

import os

from ferrule import hookimpl


@hookimpl
def schema():
    return {
        "name": "becomes_another_program",
        "description": "Replaces its process by another program.",
        "parameters": {"type": "object", "properties": {}},
    }


@hookimpl
def execute(arguments, context):
    os.execvp("sleep", ["sleep", "1000"])
