"""Notes a little more than there often is room for."""

from ferrule import hookimpl


@hookimpl(wrapper=True)
def execute(context):
    context.note("notes_much", {"text": "x" * 200})
    return (yield)
