"""The tool as the host calls it, with a server in the provider's place."""

from types import ModuleType

import pytest

import ferrule_brave


@pytest.fixture
def plugin() -> ModuleType:
    """The module of the tool."""
    return ferrule_brave


@pytest.fixture(autouse=True)
def _settings(search_settings: None) -> None:
    """Every test has the keys, and the server as the endpoint."""
