"""Reads what is at address 0."""

import ctypes

from ferrule import hookimpl, static_schema


@hookimpl
def schema():
    return static_schema(__file__)


@hookimpl
def execute(arguments, context):
    return {"text": ctypes.string_at(0)}
