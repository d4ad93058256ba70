"""Has a hook with a name that is not one."""

from ferrule import hookimpl, static_schema


@hookimpl
def schema():
    return static_schema(__file__)


@hookimpl
def execute(arguments, context):
    return {"success": True}


@hookimpl
def credentails():
    return []
