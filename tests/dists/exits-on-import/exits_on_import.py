"""Ends the interpreter while it is imported."""

import sys

from ferrule import hookimpl, static_schema

sys.exit("no licence found")


@hookimpl
def schema():
    return static_schema(__file__)


@hookimpl
def execute(arguments, context):
    return {"success": True}
