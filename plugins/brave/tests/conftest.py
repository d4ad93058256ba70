"""The tool as the host calls it, with a server in the provider's place."""

from types import ModuleType

import pytest
from search_fixtures import _settings, answer, error, events, search, server  # noqa: F401 - pytest finds them here

import ferrule_brave


@pytest.fixture
def plugin() -> ModuleType:
    """The module of the tool."""
    return ferrule_brave
