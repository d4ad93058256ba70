"""Fixtures of the search tools' tests: a server in the provider's place, and what a call of `search` comes to."""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from loopback import Server
from search_server import JSON, settings, unset

from ferrule import ToolError
from ferrule.testing import context


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as server:
        yield server


@pytest.fixture(autouse=True)
def _settings(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in unset():
        monkeypatch.delenv(name, raising=False)
    for name, value in settings(tmp_path, server).items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def events() -> list[dict[str, Any]]:
    """What the calls of a test have sent to stderr."""
    return []


@pytest.fixture
def search(plugin: ModuleType, events: list[dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    """Call the tool of the fixture `plugin`, for a query where no other is given."""

    def search(*, seconds: float = 60, **arguments: Any) -> dict[str, Any]:
        tool = plugin.schema()["name"]
        given = context(tool, seconds=seconds, credentials=plugin.credentials(), events=events)
        answer: dict[str, Any] = plugin.execute({"query": "some words", **arguments}, given)
        return answer

    return search


@pytest.fixture
def error(search: Callable[..., dict[str, Any]]) -> Callable[..., ToolError]:
    """Call the tool, and return the error that it raises."""

    def error(**arguments: Any) -> ToolError:
        with pytest.raises(ToolError) as raised:
            search(**arguments)
        return raised.value

    return error


@pytest.fixture
def answer(server: Server) -> Callable[..., None]:
    """Have the server answer everything with a document, or with bytes."""

    def answer(document: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        body = document if isinstance(document, bytes) else json.dumps(document).encode()
        server.page("*", body, JSON, status=status, headers=headers)

    return answer
