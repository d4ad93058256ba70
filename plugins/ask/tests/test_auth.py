"""Where requests go, and with which key."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from ferrule_ask import Client, Keys
from ferrule_ask.models.anthropic import ANTHROPIC
from ferrule_ask.request.auth import is_in_clear
from ferrule_ask.settings import API_VERSION, Budgets, Settings
from ferrule_dev.testing import Environment
from ferrule_testkit.model.memory_tools import no_tools
from ferrule_testkit.model.server import MODEL_KEY, ModelServer, says

Make = Callable[..., Client]
pytestmark = [pytest.mark.process, pytest.mark.usefixtures("ask_environment")]
OTHER = "sk-ant-other-key"


@pytest.fixture
def sent(client: Make, model_server: ModelServer) -> Callable[..., str]:
    """The authorization with which a question arrives; else the code of the answer."""
    model_server.always(says("Fine."))

    def sent(**settings: Any) -> str:
        answer = client(toolbox=no_tools(), **settings).ask(None, "?")
        if not model_server.requests:
            return str(answer.code)
        headers = model_server.requests[-1].headers
        assert "x-api-key" not in headers
        return headers["authorization"]

    return sent


@pytest.mark.parametrize("base", ["http://h", "http://h/", "http://h/a/b", "http://h/a/b/"])
def test_the_path_of_the_base_url_stays(base: str) -> None:
    settings = Settings("claude-x", 1, base, API_VERSION, Budgets(), {})
    assert ANTHROPIC.url(settings) == base.removesuffix("/") + "/v1/messages"


@pytest.mark.parametrize(
    ("base", "expected"),
    [
        ("http://h", True),
        ("HTTP://h", True),
        ("https://h", False),
        ("http://127.0.0.1:5", False),
        ("http://[::1", False),
    ],
)
def test_a_key_in_clear_is_noticed(base: str, expected: bool) -> None:
    assert is_in_clear(base) is expected


def test_a_key_in_clear_is_warned_of_once(client: Make) -> None:
    events: list[str] = []
    settings = {"base_url": "http://no-such-host.invalid", "budgets": (0.2, 1, 1)}
    one = client(toolbox=no_tools(), event=lambda kind, facts: events.append(kind), **settings)
    assert all(one.ask(None, "?").code for _ in range(2))
    assert events.count("warning") == 1


def test_a_key_file_that_others_may_read_is_warned_of_once(
    client: Make,
    model_server: ModelServer,
    ferrule_environment: Environment,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    file = ferrule_environment.home / ".stps/anthropic_api_key"
    file.parent.mkdir()
    file.write_text(MODEL_KEY)
    file.chmod(0o644)
    model_server.always(says("Fine."))
    events: list[tuple[str, str]] = []
    one = client(toolbox=no_tools(), event=lambda kind, facts: events.append((kind, facts["message"])))
    assert [one.ask(None, "?").text for _ in range(2)] == ["Fine.", "Fine."]
    assert events == [("warning", f"{file} can be read by other users. Run: chmod 600 {file}")]


def test_a_request_has_the_headers_of_the_api(sent: Callable[..., str], model_server: ModelServer) -> None:
    assert sent() == f"Bearer {MODEL_KEY}"
    headers = model_server.requests[0].headers
    assert headers["anthropic-version"] == "2026-10-21"
    assert headers["content-type"] == "application/json"
    assert headers["user-agent"].startswith("ferrule/")


def test_a_key_of_the_session_counts_before_all(sent: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", OTHER)
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", OTHER)
    keys = Keys()
    keys.set("ANTHROPIC_API_KEY", MODEL_KEY)
    assert sent(keys=keys) == f"Bearer {MODEL_KEY}"


def test_the_environments_key_counts_before_its_token(
    sent: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", OTHER)
    assert sent() == f"Bearer {MODEL_KEY}"


def test_the_environments_token_counts_before_a_files_key(
    sent: Callable[..., str], monkeypatch: pytest.MonkeyPatch, ferrule_environment: Environment
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", " ")
    file = ferrule_environment.configuration / "credentials.json"
    file.write_text(json.dumps({"llm": {"anthropic": {"api_key": OTHER}}}))
    file.chmod(0o600)
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", MODEL_KEY)
    assert sent() == f"Bearer {MODEL_KEY}"
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "")
    assert sent() == f"Bearer {OTHER}"


@pytest.mark.parametrize("value", ["", " ", None])
def test_without_a_key_it_is_said_how_to_set_one(
    value: str | None,
    client: Make,
    model_server: ModelServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if value is None:
        monkeypatch.delenv("ANTHROPIC_API_KEY")
    else:
        monkeypatch.setenv("ANTHROPIC_API_KEY", value)
    answer = client().ask(None, "?")
    assert answer.code == "AUTH_MISSING"
    assert "ANTHROPIC_API_KEY" in str(answer.error)
    assert model_server.requests == []


@pytest.mark.parametrize("variable", ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"])
def test_what_no_header_can_carry_is_not_sent_and_not_shown(
    variable: str,
    client: Make,
    model_server: ModelServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    monkeypatch.setenv(variable, "ключ-тайный two\r\nwords")
    answer = client().ask(None, "?")
    assert answer.code == "AUTH_MISSING"
    assert "тайный" not in str(answer)
    assert variable in str(answer.error)
    assert model_server.requests == []
