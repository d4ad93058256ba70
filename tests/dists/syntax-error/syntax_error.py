"""Is not Python."""

from ferrule import hookimpl, static_schema


@hookimpl
def schema(:
    return static_schema(__file__)
