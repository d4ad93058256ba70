"""Fills the memory."""

from ferrule import hookimpl, static_schema


@hookimpl
def schema():
    return static_schema(__file__)


@hookimpl
def execute(arguments, context):
    hoard = []
    while True:
        hoard.append(bytes(1 << 20))
