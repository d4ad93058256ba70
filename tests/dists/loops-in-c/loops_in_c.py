"""Matches a regular expression that takes years, in C, and holds the interpreter's lock."""

import re

from ferrule import hookimpl


@hookimpl
def schema():
    return {
        "name": "loops_in_c",
        "description": "Matches a regular expression that takes years, in C, and holds the interpreter's lock.",
        "parameters": {"type": "object", "properties": {}},
    }


@hookimpl
def execute(arguments, context):
    return {"found": bool(re.match("(a+)+$", "a" * 64 + "b"))}
