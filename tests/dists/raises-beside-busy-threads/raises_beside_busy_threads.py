"""Raises while its threads open and close files."""

import threading
import time

from ferrule import ToolError, hookimpl, static_schema


@hookimpl
def schema():
    return static_schema(__file__)


@hookimpl
def execute(arguments, context):
    for _ in range(8):
        threading.Thread(target=_busy, daemon=True).start()
    time.sleep(0.05)
    raise ToolError("BUSY", "the files keep us busy")


def _busy():
    while True:
        with open(__file__) as file:
            file.read()
