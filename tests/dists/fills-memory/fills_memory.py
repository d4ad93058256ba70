"""Fills the memory to the last byte, so that nothing is left to say so with."""

from ferrule import hookimpl, static_schema


@hookimpl
def schema():
    return static_schema(__file__)


@hookimpl
def execute(arguments, context):
    hoard, size = [], 1 << 20
    while True:
        try:
            hoard.append(bytes(size))
        except MemoryError:
            if size == 1:
                raise
            size //= 2
