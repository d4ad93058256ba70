"""Fails when it is told to, in the way it is told to: before the tool or after it."""

import os
import time

from ferrule import ToolError, hookimpl

WHEN, HOW = os.environ.get("PYTEST_WHEN"), os.environ.get("PYTEST_HOW", "")


@hookimpl(wrapper=True)
def execute(arguments, context):
    context.note("fails", {"noted": True})
    if WHEN == "before":
        fail(arguments)
    if HOW == "never yields":
        return
    result = yield
    result["broken"] = True
    if WHEN == "after":
        fail(arguments)
    if HOW == "yields twice":
        yield
    nonsense = {"a list": [1], "nothing": None, "nan": {"a": float("nan")}, "a set": {"a": {1}}, "an object": object()}
    return nonsense[HOW]


def fail(arguments):
    if HOW == "mutates and raises":
        arguments.clear()
        arguments["city"] = "Paris"
        raise ValueError("on purpose")
    if HOW == "raises a base exception":
        raise BaseException("on purpose")
    if HOW == "raises a tool error":
        raise ToolError("BAD", "on purpose")
    if HOW == "calls sys.exit":
        raise SystemExit(3)
    if HOW == "raises StopIteration":
        raise StopIteration
    if HOW == "recurses":
        fail(arguments)
    if HOW == "dies":
        os._exit(3)
    if HOW == "is killed":
        os.kill(os.getpid(), 9)
    if HOW == "hangs":
        time.sleep(1000)
