"""Puts a short result in the place of any other, as something that stores large ones would."""

from ferrule import hookimpl


@hookimpl(wrapper=True)
def execute():
    result = yield
    return {"success": True, "had": sorted(result)}
