"""Starts a program and does not wait for it."""

import subprocess

from ferrule import hookimpl, static_schema


@hookimpl
def schema():
    return static_schema(__file__)


@hookimpl
def execute(arguments, context):
    subprocess.Popen(["sleep", "1000"])
    return {"success": True}
