"""The tool as the host calls it, with a server in the place of GDELT."""

from types import ModuleType

import pytest

import ferrule_gdelt
from ferrule_dev.testing import Environment, Server


@pytest.fixture
def plugin() -> ModuleType:
    """The module of the tool."""
    return ferrule_gdelt


@pytest.fixture(autouse=True)
def _settings(ferrule_environment: Environment, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test has the server as the endpoint."""
    monkeypatch.setenv("FERRULE_GDELT_ENDPOINT", server.url + "/doc")
