"""Blocks every signal that can be blocked, and sleeps for ever."""

import signal

from ferrule import hookimpl


@hookimpl
def schema():
    return {
        "name": "ignores_sigterm",
        "description": "Blocks every signal that can be blocked, and sleeps for ever.",
        "parameters": {"type": "object", "properties": {}},
    }


@hookimpl
def execute(arguments, context):
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    signal.pause()
