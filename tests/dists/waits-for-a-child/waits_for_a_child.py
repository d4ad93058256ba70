"""Waits for a child that does not end."""

import subprocess

from ferrule import hookimpl


@hookimpl
def schema():
    return {
        "name": "waits_for_a_child",
        "description": "Waits for a child that does not end.",
        "parameters": {"type": "object", "properties": {}},
    }


@hookimpl
def execute(arguments, context):
    subprocess.run(["sleep", "1000"], check=True)
