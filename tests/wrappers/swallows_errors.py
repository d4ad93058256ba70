"""Gives a result where the tool has failed."""

from ferrule import hookimpl


@hookimpl(wrapper=True)
def execute():
    try:
        return (yield)
    except Exception as error:
        return {"success": True, "instead_of": type(error).__name__}
