"""Raises KeyboardInterrupt."""

from ferrule import hookimpl


@hookimpl
def schema():
    return {
        "name": "raises_keyboard_interrupt",
        "description": "Raises KeyboardInterrupt.",
        "parameters": {"type": "object", "properties": {}},
    }


@hookimpl
def execute(arguments, context):
    raise KeyboardInterrupt
