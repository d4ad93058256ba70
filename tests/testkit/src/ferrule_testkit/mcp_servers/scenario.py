"""Scenarios of the scripted server."""

from __future__ import annotations

import json
import sys
import uuid
from typing import TYPE_CHECKING, Any

from ferrule_testkit.mcp_servers import scripted_server

if TYPE_CHECKING:
    from pathlib import Path

FAR_SECONDS = 1e6
"""Until a deadline that no test reaches; what stops a test that is stuck is its own limit."""


def write_scenario(folder: Path, **scenario: Any) -> list[str]:
    """The command of a server that does what a scenario says. Its folder is on the command line, to find it by."""
    path = folder / f"scenario-{uuid.uuid4().hex}.json"
    path.write_text(json.dumps(scenario))
    return [sys.executable, "-I", "-S", scripted_server.__file__, str(path)]


def on_call(*actions: dict[str, Any]) -> dict[str, Any]:
    """What is done for each `tools/call`."""
    return {"on": {"tools/call": [list(actions)]}}


def text_result(text: str, **others: Any) -> dict[str, Any]:
    """The action that answers with one text."""
    return {"result": {"content": [{"type": "text", "text": text}], **others}}


def notification(method: str, **params: Any) -> dict[str, Any]:
    """The action that sends a notification."""
    return {"send": {"jsonrpc": "2.0", "method": method, "params": params}}


def request(method: str, number: object = "of the server", **params: Any) -> dict[str, Any]:
    """The action that asks the client for something, and keeps its answer."""
    return {"ask": {"jsonrpc": "2.0", "id": number, "method": method, "params": params}}
