"""Prints as fast as a pipe takes it."""

import subprocess

from ferrule import hookimpl, static_schema


@hookimpl
def schema():
    return static_schema(__file__)


@hookimpl
def execute(arguments, context):
    subprocess.run(["yes"], check=True)
