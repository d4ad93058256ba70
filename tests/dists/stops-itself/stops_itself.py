"""Sends itself SIGSTOP."""

import os
import signal
import time

from ferrule import hookimpl, static_schema


@hookimpl
def schema():
    return static_schema(__file__)


@hookimpl
def execute(arguments, context):
    os.kill(os.getpid(), signal.SIGSTOP)
    time.sleep(1000)
