"""Answers in the tool's place, so that the tool is not asked; or with what is no answer."""

import os

from ferrule import hookimpl


@hookimpl(tryfirst=True)
def execute(arguments):
    answers = {"nothing": None, "a list": [1], "nan": {"a": float("nan")}}
    how = os.environ.get("PYTEST_HOW", "")
    if how == "raises":
        raise KeyError("lookup")
    return answers[how] if how in answers else {"success": True, "instead": arguments}
