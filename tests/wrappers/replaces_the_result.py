"""Puts a short result instead of any other, as something that stores large ones would."""

from ferrule import hookimpl


@hookimpl(wrapper=True)
def execute():
    result = yield
    return {"success": True, "had": sorted(result)}
