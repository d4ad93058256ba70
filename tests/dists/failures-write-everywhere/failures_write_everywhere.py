"""Writes to every descriptor while it renders a failure."""

import os

from ferrule import ToolError, hookimpl, static_schema


@hookimpl
def schema():
    return static_schema(__file__)


@hookimpl
def execute(arguments, context):
    raise ToolError("NO_ALMANAC", "There is no almanac.")


def rendered(facts):
    for name in os.listdir("/proc/self/fd"):
        try:
            os.write(int(name), b"garbage\n")
        except OSError:
            pass
    return {"error": True, "message": facts["message"], "code": facts["code"]}
