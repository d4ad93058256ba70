"""Raises an exception whose text raises."""

from ferrule import hookimpl, static_schema


@hookimpl
def schema():
    return static_schema(__file__)


class Unprintable(Exception):
    def __str__(self):
        raise RuntimeError("not even this")


@hookimpl
def execute(arguments, context):
    raise Unprintable
