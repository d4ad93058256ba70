"""Sleeps for ever while it is imported."""

import time

from ferrule import hookimpl, static_schema

time.sleep(1000)


@hookimpl
def schema():
    return static_schema(__file__)


@hookimpl
def execute(arguments, context):
    return {"success": True}
