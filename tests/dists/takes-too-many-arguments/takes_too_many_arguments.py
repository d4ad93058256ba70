"""Has a hook with a parameter that no host gives it."""

from ferrule import hookimpl, static_schema


@hookimpl
def schema():
    return static_schema(__file__)


@hookimpl
def execute(arguments, context, weather):
    return {"success": True}
