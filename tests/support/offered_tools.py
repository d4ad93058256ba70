"""What the tests of tools that a model may call share: a person without keys, providers on loopback, hostile tools."""

import asyncio
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from corpus import Site
from loopback import Server
from runs import mark
from search_server import BRAVE_PATH, KEYS, Brave, Google, settings, some_hits, unset

from ferrule_ask.keys import Keys
from ferrule_ask.protocols import ToolResult
from ferrule_ask.toolbox import Toolbox

OSLO = {"city": "Oslo"}
QUERY = {"query": "the price of tea"}
SECONDS = 20.0  # for what ends by itself


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as server:
        brave, google = Brave(some_hits(7)), Google(some_hits(7))
        server.route("*", lambda exchange: (brave if exchange.path.startswith(BRAVE_PATH) else google)(exchange))
        yield server


@pytest.fixture(autouse=True)
def _plain(tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment of a person who has no keys, and endpoints that are the server's."""
    ask = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "FERRULE_ASK_TOOLS", "FERRULE_WRAPPERS", "FERRULE_EXIT_ZERO")
    for name in (*unset(), *KEYS, *ask, "IKIGAI_AGENT_ID", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name, value in settings(tmp_path, server).items():
        if name not in KEYS:
            monkeypatch.setenv(name, value)


@pytest.fixture
def left(monkeypatch: pytest.MonkeyPatch) -> str:
    """The mark of all processes that the test starts."""
    value, environ = mark({})
    for name, one in environ.items():
        monkeypatch.setenv(name, one)
    return value


@pytest.fixture
def hostile(corpus: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """The broken distributions are installed."""
    add_to_path(corpus.path, monkeypatch)


def add_to_path(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As PYTHONPATH does: behind the script's own folder, on which no tool may depend."""
    monkeypatch.setattr(sys, "path", [sys.path[0], str(folder), *sys.path[1:]])


def names(box: Toolbox) -> list[str]:
    return [one.name for one in box.offered]


def executed(tool: str, arguments: Any = None, seconds: float = SECONDS, keys: Keys | None = None) -> ToolResult:
    box = Toolbox.load([tool], keys or Keys())
    assert names(box) == [tool]
    return asyncio.run(box.execute(tool, arguments or {}, seconds))


_TELLS = """
import os
from ferrule import ResultPolicy, hookimpl

@hookimpl
def result_policy():
    return ResultPolicy(linkable=True)
@hookimpl
def schema():
    return {schema}
@hookimpl
def execute(arguments, context):
    return {{"environment": {{name: value for name, value in os.environ.items() if "KEY" in name or "_ASK_" in name}}}}
"""


@pytest.fixture
def tells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Install a tool that tells which keys are in its environment; its parameters have further keywords."""

    def tells(**keywords: Any) -> None:
        parameters = {"type": "object", "properties": {}, **keywords}
        schema = {"name": "tells", "description": "Tells.", "parameters": parameters}
        site = tmp_path / "telling"
        (site / "tells-1.0.dist-info").mkdir(parents=True)
        (site / "tells-1.0.dist-info/entry_points.txt").write_text("[ferrule.tools]\ntells = tells\n")
        (site / "tells.py").write_text(_TELLS.format(schema=schema))
        add_to_path(site, monkeypatch)

    return tells
