"""Raises what `except Exception` does not catch."""

from ferrule import hookimpl, static_schema


@hookimpl
def schema():
    return static_schema(__file__)


class Vanish(BaseException):
    pass


@hookimpl
def execute(arguments, context):
    raise Vanish("into thin air")
