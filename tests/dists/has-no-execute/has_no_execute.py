"""Describes itself and does nothing."""

from ferrule import hookimpl, static_schema


@hookimpl
def schema():
    return static_schema(__file__)
