"""Sleeps for ever."""

import time

from ferrule import hookimpl, static_schema


@hookimpl
def schema():
    return static_schema(__file__)


@hookimpl
def execute(arguments, context):
    time.sleep(1000)
