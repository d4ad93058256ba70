"""A server, which is also the proxy to every host that a test names, and the tool as the host calls it."""

from collections.abc import Callable
from typing import Any

import pytest

from ferrule import Context, ToolError
from ferrule_dev.testing import Environment, Server, context, refused_port
from ferrule_fetch.limits import reader
from ferrule_research import page
from ferrule_testkit.installation.declarations import declared_credentials
from ferrule_testkit.schemas.declared_results import require_declared_shape

PROSE = "<p>" + "There are some words in this sentence, and it goes on for a while. " * 4 + "</p>"


@pytest.fixture(autouse=True)
def _environment(ferrule_environment: Environment, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is set but that servers of the tests may be fetched from, and nobody of the internet is asked."""
    monkeypatch.setenv("FERRULE_FETCH_ALLOW", "loopback")
    monkeypatch.setenv("FERRULE_WRAPPERS", "")  # or else the second of two equal calls would fetch nothing
    nobody = f"http://127.0.0.1:{refused_port()}"
    monkeypatch.setenv("FERRULE_CROSSREF_ENDPOINT", nobody)
    monkeypatch.setenv("FERRULE_HN_ENDPOINT", nobody)


@pytest.fixture(autouse=True)
def _room_for_a_large_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that has run many tests is itself larger than a tool with its page may be."""
    monkeypatch.setattr(reader, "_MEMORY_MIB", 4 << 10)


@pytest.fixture
def web(server: Server, monkeypatch: pytest.MonkeyPatch) -> Server:
    """The server as the proxy of all hosts: `web.page("http://host.example/path", …)`."""
    monkeypatch.setenv("HTTP_PROXY", server.url)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    return server


@pytest.fixture
def make_context() -> Callable[..., Context]:
    """What a call is given: `seconds` until its deadline, and at most `max_bytes` for its answer."""

    def make(seconds: float = 60, max_bytes: int | None = None) -> Context:
        made = context("scrape_page", seconds=seconds, credentials=declared_credentials("scrape_page"))
        made.max_bytes = max_bytes or made.max_bytes
        return made

    return make


@pytest.fixture
def scrape(make_context: Callable[..., Context]) -> Callable[..., dict[str, Any]]:
    """Call the tool with a URL and other arguments."""

    def scrape(url: str, *, within: Context | None = None, **arguments: Any) -> dict[str, Any]:
        answer = page.execute({"url": url, **arguments}, within or make_context())
        require_declared_shape("scrape_page", answer)
        return answer

    return scrape


@pytest.fixture
def page_error(scrape: Callable[..., dict[str, Any]]) -> Callable[..., ToolError]:
    """Call the tool, and return the error that it raises."""

    def page_error(url: str, **arguments: Any) -> ToolError:
        with pytest.raises(ToolError) as raised:
            scrape(url, **arguments)
        return raised.value

    return page_error


@pytest.fixture
def at(web: Server) -> Callable[..., str]:
    """Put a page of this source at a URL of any host, with a paragraph in it; returns the URL."""

    def at(url: str, source: str = "", body: str = PROSE) -> str:
        web.page(url, f"<!DOCTYPE html><html><head>{source}</head><body>{body}</body></html>")
        return url

    return at
