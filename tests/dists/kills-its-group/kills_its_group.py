"""Sends SIGKILL to its process group."""

import os
import signal
import time

from ferrule import hookimpl


@hookimpl
def schema():
    return {
        "name": "kills_its_group",
        "description": "Sends SIGKILL to its process group.",
        "parameters": {"type": "object", "properties": {}},
    }


@hookimpl
def execute(arguments, context):
    os.killpg(0, signal.SIGKILL)
    time.sleep(1000)
