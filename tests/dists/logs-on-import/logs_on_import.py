"""Logs and prints while it is imported."""

import logging
import sys

from ferrule import hookimpl, static_schema

logging.basicConfig(stream=sys.stdout, level=logging.DEBUG)
logging.info("loading the almanac")
print("loading the atlas")


@hookimpl
def schema():
    return static_schema(__file__)


@hookimpl
def execute(arguments, context):
    return {"success": True}
