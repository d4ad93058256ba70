"""Imports a module that is not installed."""

import a_module_that_nobody_installed  # noqa: F401 - the import is what fails

from ferrule import hookimpl, static_schema


@hookimpl
def schema():
    return static_schema(__file__)


@hookimpl
def execute(arguments, context):
    return {"success": True}
