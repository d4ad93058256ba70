"""What the tests of tools that a model may call share: a person without keys, providers on loopback, hostile tools."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

from ferrule_ask.keys import Keys
from ferrule_ask.tools.protocols import ToolResult
from ferrule_ask.tools.toolbox import Toolbox

OSLO = {"city": "Oslo"}
QUERY = {"query": "the price of tea"}
SECONDS = 20.0  # for what ends by itself


def add_to_path(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As PYTHONPATH does: behind the script's own folder, on which no tool may depend."""
    monkeypatch.setattr(sys, "path", [sys.path[0], str(folder), *sys.path[1:]])


def names(box: Toolbox) -> list[str]:
    return [one.name for one in box.offered]


def executed(tool: str, arguments: Any = None, seconds: float = SECONDS, keys: Keys | None = None) -> ToolResult:
    box = Toolbox.load([tool], keys or Keys())
    assert names(box) == [tool]
    return asyncio.run(box.execute(tool, arguments or {}, seconds))
