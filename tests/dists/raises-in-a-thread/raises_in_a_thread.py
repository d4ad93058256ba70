"""Raises in a thread, and answers."""

import threading

from ferrule import hookimpl


@hookimpl
def schema():
    return {
        "name": "raises_in_a_thread",
        "description": "Raises in a thread, and answers.",
        "parameters": {"type": "object", "properties": {}},
    }


@hookimpl
def execute(arguments, context):
    thread = threading.Thread(target=lambda: 1 / 0)
    thread.start()
    thread.join()
    return {"success": True}
