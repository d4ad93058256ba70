"""Sets an alarm that nobody handles."""

import signal
import time

from ferrule import hookimpl, static_schema


@hookimpl
def schema():
    return static_schema(__file__)


@hookimpl
def execute(arguments, context):
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    time.sleep(1000)
