"""Writes lines to every descriptor that it has, for ever."""

import os

from ferrule import hookimpl


@hookimpl
def schema():
    return {
        "name": "prints_lines_to_the_channel_forever",
        "description": "Writes lines to every descriptor that it has, for ever.",
        "parameters": {"type": "object", "properties": {}},
    }


@hookimpl
def execute(arguments, context):
    files = [int(name) for name in os.listdir("/proc/self/fd") if int(name) > 2]
    while True:
        for file in files:
            try:
                os.write(file, b"\n" * 65536)
            except OSError:
                pass
