"""Leaves itself without a working directory."""

import os
import tempfile

from ferrule import hookimpl


@hookimpl
def schema():
    return {
        "name": "changes_directory_and_deletes_it",
        "description": "Leaves itself without a working directory.",
        "parameters": {"type": "object", "properties": {}},
    }


@hookimpl
def execute(arguments, context):
    folder = tempfile.mkdtemp()
    os.chdir(folder)
    os.rmdir(folder)
    return {"success": True}
