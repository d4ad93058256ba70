"""Replaces built-in functions."""

import builtins

from ferrule import hookimpl, static_schema


@hookimpl
def schema():
    return static_schema(__file__)


@hookimpl
def execute(arguments, context):
    builtins.isinstance = builtins.len = builtins.open = None
    return {"success": True}
