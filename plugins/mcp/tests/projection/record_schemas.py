"""Record the input schemas that MCP servers list, without a word of their prose, as data for the tests.

    python record_schemas.py COMMANDS.json schemas.json.gz

COMMANDS.json maps the name of each server to `{"command": [...], "variables": {...}, "capabilities": {...}}`. Each is
started over stdio, in an empty folder that is its HOME, and asked for its tools. What it says to people is replaced by
filler of the same length: the tests need its shape and its size. A server that does not answer is named on stderr and
left out.
"""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import IO, Any

_START_SECONDS = 120
_PROSE = {"description", "title", "$comment", "markdownDescription", "errorMessage"}
_MAPS = {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}
_FILLER = "Filler words stand here. "


def main() -> None:
    """Record every server that the file names."""
    commands, target = (Path(argument) for argument in sys.argv[1:3])
    recorded = {}
    for name, entry in json.loads(commands.read_text()).items():
        try:
            tools = list_tools(entry["command"], entry.get("variables", {}), entry.get("capabilities", {}))
        except (OSError, ValueError) as error:
            print(f"{name}: {error!r}", file=sys.stderr)
            continue
        recorded[name] = [strip_tool(tool) for tool in tools]
        print(f"{name}: {len(tools)}", file=sys.stderr)
    text = json.dumps(recorded, separators=(",", ":"), ensure_ascii=False)
    target.write_bytes(gzip.compress(text.encode(), mtime=0))


def list_tools(command: list[str], variables: dict[str, str], offered: dict[str, Any]) -> list[dict[str, Any]]:
    """Every tool of a server, page after page.

    offered: the capabilities of a client, on which it depends what a server lists. Raises ValueError where the server
    ends or is late.
    """
    with tempfile.TemporaryDirectory() as home:
        environment = {"PATH": os.environ["PATH"], "HOME": home, "TMPDIR": home, "LANG": "C.UTF-8", **variables}
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=home,
            env=environment,
            start_new_session=True,
        )
        late = threading.Timer(_START_SECONDS, os.killpg, (process.pid, signal.SIGKILL))
        late.start()
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            return _converse(process.stdin, process.stdout, offered)
        finally:
            late.cancel()
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass  # it has ended by itself
            process.wait()


def _converse(stdin: IO[bytes], stdout: IO[bytes], offered: dict[str, Any]) -> list[dict[str, Any]]:
    client = {"name": "recorder", "version": "1"}
    _send(stdin, 1, "initialize", {"protocolVersion": "2025-11-25", "capabilities": offered, "clientInfo": client})
    _receive(stdout, 1)
    _send(stdin, None, "notifications/initialized", {})
    tools: list[dict[str, Any]] = []
    cursor: dict[str, str] = {}
    for number in range(2, 100):
        _send(stdin, number, "tools/list", cursor)
        page = _receive(stdout, number)
        tools += page["tools"]
        if not page.get("nextCursor"):
            return tools
        cursor = {"cursor": page["nextCursor"]}
    raise ValueError("its list has no end")


def _send(stdin: IO[bytes], number: int | None, method: str, params: dict[str, Any]) -> None:
    message = {"jsonrpc": "2.0", "method": method, "params": params}
    stdin.write(json.dumps(message if number is None else {**message, "id": number}).encode() + b"\n")
    stdin.flush()


def _receive(stdout: IO[bytes], number: int) -> dict[str, Any]:
    for line in stdout:
        message: dict[str, Any] = json.loads(line)
        if message.get("id") == number and "method" not in message:
            if "error" in message:
                raise ValueError(f"it refused: {message['error']}")
            result: dict[str, Any] = message["result"]
            return result
    raise ValueError("it ended, or was too late")


def strip_tool(tool: dict[str, Any]) -> dict[str, Any]:
    """The name, the schema and the length of the description of one entry of tools/list."""
    described = {"description": make_filler(len(tool["description"]))} if tool.get("description") else {}
    return {"name": tool["name"], **described, "inputSchema": strip_prose(tool["inputSchema"])}


def strip_prose(schema: Any, *, is_map: bool = False) -> Any:
    """A schema with filler instead of prose. is_map: the keys are names of properties or definitions."""
    if isinstance(schema, list):
        return [strip_prose(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    if is_map:
        return {name: strip_prose(inner) for name, inner in schema.items()}
    stripped = {}
    for keyword, value in schema.items():
        if keyword in _PROSE and isinstance(value, str):
            stripped[keyword] = make_filler(len(value))
        elif keyword != "examples":
            stripped[keyword] = strip_prose(value, is_map=keyword in _MAPS)
    return stripped


def make_filler(length: int) -> str:
    """Text of this length that says nothing."""
    return (_FILLER * (length // len(_FILLER) + 1))[:length]


if __name__ == "__main__":
    main()
