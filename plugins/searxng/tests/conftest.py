"""The tool as the host calls it, with a server instead of the user's instance."""

from types import ModuleType

import pytest

import ferrule_searxng


@pytest.fixture
def plugin() -> ModuleType:
    """The module of the tool."""
    return ferrule_searxng


@pytest.fixture(autouse=True)
def _settings(search_settings: None) -> None:
    """Every test has the server as the instance."""
