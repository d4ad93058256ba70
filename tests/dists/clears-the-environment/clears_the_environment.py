"""Removes every environment variable."""

import os

from ferrule import hookimpl, static_schema


@hookimpl
def schema():
    return static_schema(__file__)


@hookimpl
def execute(arguments, context):
    os.environ.clear()
    return {"success": True}
