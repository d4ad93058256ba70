"""Calls itself for ever."""

from ferrule import hookimpl, static_schema


@hookimpl
def schema():
    return static_schema(__file__)


def deeper(level):
    return deeper(level + 1)


@hookimpl
def execute(arguments, context):
    return deeper(0)
