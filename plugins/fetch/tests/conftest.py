"""A server, and the tool as the host calls it."""

from collections.abc import Callable
from typing import Any

import pytest

import ferrule_fetch
from ferrule import Context, ToolError
from ferrule_dev.testing import Environment, context
from ferrule_fetch.limits import reader
from ferrule_testkit.installation.declarations import declared_credentials
from ferrule_testkit.schemas.declared_results import require_declared_shape


@pytest.fixture(autouse=True)
def _environment(ferrule_environment: Environment, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is set, but that the servers of the tests may be fetched from."""
    monkeypatch.setenv("FERRULE_FETCH_ALLOW", "loopback")


@pytest.fixture(autouse=True)
def _room_for_a_large_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that has run many tests is itself larger than a tool with its page may be."""
    monkeypatch.setattr(reader, "_MEMORY_MIB", 4 << 10)


@pytest.fixture
def make_context() -> Callable[..., Context]:
    """What a call is given: `seconds` until its deadline, and at most `max_bytes` for its answer."""

    def make(seconds: float = 60, max_bytes: int | None = None) -> Context:
        made = context("web_fetch", seconds=seconds, credentials=declared_credentials("web_fetch"))
        made.max_bytes = max_bytes or made.max_bytes
        return made

    return make


@pytest.fixture
def fetch(make_context: Callable[..., Context]) -> Callable[..., dict[str, Any]]:
    """Call the tool with a URL and other arguments."""

    def fetch(url: str, *, within: Context | None = None, **arguments: int) -> dict[str, Any]:
        answer = ferrule_fetch.execute({"url": url, **arguments}, within or make_context())
        require_declared_shape("web_fetch", answer)
        return answer

    return fetch


@pytest.fixture
def error(fetch: Callable[..., dict[str, Any]]) -> Callable[..., tuple[str, str]]:
    """Call the tool, and return the code and the message of the error that it raises."""

    def error(url: str, **arguments: Any) -> tuple[str, str]:
        with pytest.raises(ToolError) as raised:
            fetch(url, **arguments)
        return raised.value.code, raised.value.message

    return error
