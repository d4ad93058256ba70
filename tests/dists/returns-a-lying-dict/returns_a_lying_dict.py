"""Returns a dict that raises when it is read."""

from ferrule import hookimpl, static_schema


@hookimpl
def schema():
    return static_schema(__file__)


class Lying(dict):
    def items(self):
        raise RuntimeError("none of your business")

    values = __iter__ = items


@hookimpl
def execute(arguments, context):
    return Lying(success=True)
