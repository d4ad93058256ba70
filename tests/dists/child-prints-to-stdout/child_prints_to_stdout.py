"""Starts a program that prints."""

import subprocess

from ferrule import hookimpl, static_schema


@hookimpl
def schema():
    return static_schema(__file__)


@hookimpl
def execute(arguments, context):
    subprocess.run(["echo", "printed by a child"], check=True)
    return {"success": True}
