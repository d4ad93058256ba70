"""Hangs while it renders a failure."""

import time

from ferrule import ToolError, hookimpl, static_schema


@hookimpl
def schema():
    return static_schema(__file__)


@hookimpl
def execute(arguments, context):
    raise ToolError("NO_ALMANAC", "There is no almanac.")


def rendered(facts):
    time.sleep(1000)
