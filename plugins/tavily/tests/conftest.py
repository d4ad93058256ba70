"""The tool as the host calls it, with a server in the provider's place."""

from types import ModuleType

import pytest

import ferrule_tavily
from ferrule_dev.testing import Environment, Server
from ferrule_testkit.search.posted import TAVILY_KEY


@pytest.fixture
def plugin() -> ModuleType:
    """The module of the tool."""
    return ferrule_tavily


@pytest.fixture(autouse=True)
def _settings(ferrule_environment: Environment, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test has the key, and the server as the endpoint."""
    monkeypatch.setenv("TAVILY_API_KEY", TAVILY_KEY)
    monkeypatch.setenv("FERRULE_TAVILY_ENDPOINT", server.url + "/search")
