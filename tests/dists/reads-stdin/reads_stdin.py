"""Reads stdin, which the host has read already."""

import sys

from ferrule import hookimpl, static_schema


@hookimpl
def schema():
    return static_schema(__file__)


@hookimpl
def execute(arguments, context):
    return {"success": True, "rest": sys.stdin.read()}
