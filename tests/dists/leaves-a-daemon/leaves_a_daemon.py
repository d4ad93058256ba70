"""Leaves a process that has left the session, the group and every parent."""

import os
import signal
import time

from ferrule import hookimpl


@hookimpl
def schema():
    return {
        "name": "leaves_a_daemon",
        "description": "Leaves a process that has left the session, the group and every parent.",
        "parameters": {"type": "object", "properties": {}},
    }


def become_a_daemon():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
            time.sleep(1000)
        os._exit(0)


@hookimpl
def execute(arguments, context):
    become_a_daemon()
    time.sleep(0.1)
    return {"success": True}
