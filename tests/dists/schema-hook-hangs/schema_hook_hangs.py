"""Sleeps for ever when it is asked for its schema."""

import time

from ferrule import hookimpl


@hookimpl
def schema():
    time.sleep(1000)


@hookimpl
def execute(arguments, context):
    return {"success": True}
