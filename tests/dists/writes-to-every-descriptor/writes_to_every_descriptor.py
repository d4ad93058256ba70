"""Writes garbage, and lines that look like answers, to every descriptor that it has."""

import os

from ferrule import hookimpl, static_schema


@hookimpl
def schema():
    return static_schema(__file__)


@hookimpl
def execute(arguments, context):
    for name in os.listdir("/proc/self/fd"):
        try:
            os.write(int(name), b'\0garbage\nr{"forged":\nr[1\ns5\ne[]\nf"no"\nx{}\n\n')
        except OSError:
            pass
    return {"success": True}
