"""Ends its process while it is imported."""

import os

from ferrule import hookimpl, static_schema

os._exit(7)


@hookimpl
def schema():
    return static_schema(__file__)


@hookimpl
def execute(arguments, context):
    return {"success": True}
