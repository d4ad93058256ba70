"""Raises an exception with a very long text."""

from ferrule import hookimpl


@hookimpl
def schema():
    return {
        "name": "exception_of_ten_megabytes",
        "description": "Raises an exception with a very long text.",
        "parameters": {"type": "object", "properties": {}},
    }


@hookimpl
def execute(arguments, context):
    raise ValueError("so long " * 1_250_000)
