"""Leaves a thread that never ends."""

import threading
import time

from ferrule import hookimpl, static_schema


@hookimpl
def schema():
    return static_schema(__file__)


@hookimpl
def execute(arguments, context):
    threading.Thread(target=time.sleep, args=(1000,)).start()
    return {"success": True}
