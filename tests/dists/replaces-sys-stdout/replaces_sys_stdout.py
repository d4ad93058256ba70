"""Puts other things instead of sys.stdout and sys.stderr."""

import sys

from ferrule import hookimpl


@hookimpl
def schema():
    return {
        "name": "replaces_sys_stdout",
        "description": "Puts other things instead of sys.stdout and sys.stderr.",
        "parameters": {"type": "object", "properties": {}},
    }


@hookimpl
def execute(arguments, context):
    sys.stdout = object()
    sys.stderr = None
    return {"success": True}
