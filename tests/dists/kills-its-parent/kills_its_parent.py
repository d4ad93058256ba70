"""Sends SIGKILL to the process that waits for it."""

import os
import signal
import time

from ferrule import hookimpl, static_schema


@hookimpl
def schema():
    return static_schema(__file__)


@hookimpl
def execute(arguments, context):
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(1000)
