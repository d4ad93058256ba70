"""The shipped tools that ask servers: what they ask in a process of their own is recorded once, and replayed."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ferrule import ToolError
from ferrule.http import Client
from ferrule.http.connections.relay import RELAY_VARIABLE
from ferrule_dev.testing import Environment, Server, Tool
from ferrule_dev.testing.exchanges.exchanges import Exchanges, RecordedExchanges, ReplayedExchanges
from ferrule_testkit.search.server import BRAVE_KEY, ENGINE, GOOGLE_KEY, KEYS, endpoints

pytestmark = pytest.mark.process

HOST = "http://weather.example"
PAGE = "<!DOCTYPE html><title>Weather</title><main><h1>Oslo</h1><p>Rain, says the page, and more of it.</p></main>"
SEARCH = {"query": "some words"}


@pytest.fixture
def internet(ferrule_environment: Environment, providers: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """The providers of searches, and the proxy to the host of a page; afterwards there is nothing."""
    providers.page(f"{HOST}/oslo", PAGE)
    for name, value in endpoints(providers).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("HTTP_PROXY", providers.url)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("FERRULE_WRAPPERS", "")  # or else the cache would answer, and its key is another each time
    return providers


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "arguments", "requests"),
    [
        pytest.param("web_search_brave", SEARCH, 1, id="brave"),
        pytest.param("web_search_google", SEARCH, 1, id="google"),
        pytest.param("web_search", SEARCH, 1, id="web_search"),
        pytest.param("web_fetch", {"url": f"{HOST}/oslo"}, 1, id="web_fetch"),
        pytest.param("scrape_page", {"url": f"{HOST}/oslo"}, 1, id="scrape_page"),
    ],
)
def test_a_tool_answers_from_its_recorded_exchanges_as_it_did_before(
    name: str,
    arguments: dict[str, str],
    requests: int,
    internet: Server,
    ferrule_tool: Callable[[str], Tool],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    path = tmp_path / "exchanges.json"

    def answer(exchanges: Exchanges, keys: dict[str, str]) -> dict[str, object]:
        with exchanges:
            own = {RELAY_VARIABLE: exchanges.url, "FERRULE_STATE": str(tmp_path / "new")}
            for variable, value in {**keys, **own}.items():
                monkeypatch.setenv(variable, value)
            tool = ferrule_tool(name)
            exchanges.secrets.declare(tool.credentials)
            run = tool.run(arguments)
            exchanges.finish()
        assert run.exit_code == 0, run
        return {key: value for key, value in run.document.items() if "time" not in key.lower()}

    first = answer(RecordedExchanges(path, "anew"), KEYS)
    assert len(internet.requests) == requests
    text = path.read_text()
    assert not any(one in text for one in (BRAVE_KEY, GOOGLE_KEY, ENGINE))
    for variable in ("HTTP_PROXY", "NO_PROXY"):
        monkeypatch.delenv(variable)
    nobody = {variable: f"no-key-of-anybody-{variable}" for variable in KEYS}
    assert answer(ReplayedExchanges(path, "anew"), nobody) == first
    assert len(internet.requests) == requests


@pytest.mark.usefixtures("trusted")
def test_https_is_recorded_and_replayed_without_a_certificate(
    secure_server: Server,
    ferrule_tool: Callable[[str], Tool],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    arguments = {"url": secure_server.page("/oslo", PAGE)}
    monkeypatch.setenv("FERRULE_FETCH_ALLOW", "loopback")
    monkeypatch.setenv("FERRULE_WRAPPERS", "")
    answers = []
    for kind in (RecordedExchanges, ReplayedExchanges):
        with kind(tmp_path / "exchanges.json", "anew") as exchanges:
            monkeypatch.setenv(RELAY_VARIABLE, exchanges.url)
            answers.append(ferrule_tool("web_fetch").run(arguments))
            exchanges.finish()
        monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    assert "Rain" in answers[0].document["content"]
    assert answers[0] == answers[1]
    assert len(secure_server.requests) == 1


@pytest.mark.parametrize(
    "named", ["http://192.0.2.1:80", "https://127.0.0.1:80", "127.0.0.1:80", "http://127.0.0.1:99999"]
)
def test_requests_are_relayed_to_this_machine_only(
    named: str, ferrule_environment: Environment, monkeypatch: pytest.MonkeyPatch, server: Server
) -> None:
    monkeypatch.setenv(RELAY_VARIABLE, named)
    with Client(time.monotonic() + 10) as client, pytest.raises(ToolError, match=RELAY_VARIABLE) as refused:
        client.open("GET", server.page("/", PAGE))
    assert refused.value.code == "NETWORK_ERROR"
    assert server.requests == []
