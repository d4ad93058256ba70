"""A tool that does what its arguments say, so that a test sees the contract from the inside."""

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from ferrule import Context, hookimpl, static_schema


@hookimpl
def schema() -> dict[str, Any]:
    return static_schema(__file__)


@hookimpl
def execute(arguments: dict[str, Any], context: Context) -> dict[str, Any]:
    if "say" in arguments:
        sys.stdout.write(arguments["say"] + "\n")
        sys.stderr.write(arguments["say"] + "\n")
    if arguments.get("leave_children"):
        subprocess.Popen(["sleep", "1000"], start_new_session=True)
    if "touch" in arguments:
        Path(arguments["touch"]).touch()
    time.sleep(context.remaining() if arguments.get("until_deadline") else arguments.get("sleep", 0))
    if arguments.get("show_modules"):
        return {"modules": sorted(sys.modules)}
    if "size" in arguments:
        room = arguments["size"] - context.size({"text": ""})
        return {"text": arguments["letter"] * (room // len(arguments["letter"].encode()))}
    return {"success": True, "arguments": arguments, "descriptors": len(os.listdir("/dev/fd"))}
