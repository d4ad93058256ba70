"""The tool as the host calls it, with a server in the provider's place."""

from collections.abc import Callable
from typing import Any

import pytest
from search_fixtures import _settings, answer, error, events, server  # noqa: F401 - pytest finds them here

import ferrule_google
from ferrule.testing import context


@pytest.fixture
def search(events: list[dict[str, Any]]) -> Callable[..., dict[str, Any]]:  # noqa: F811
    """Call the tool, for a query where no other is given."""

    def search(*, seconds: float = 60, **arguments: Any) -> dict[str, Any]:
        given = context("web_search_google", seconds=seconds, credentials=ferrule_google.credentials(), events=events)
        return ferrule_google.execute({"query": "some words", **arguments}, given)

    return search
