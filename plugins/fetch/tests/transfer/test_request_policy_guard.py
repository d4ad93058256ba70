"""What the administrator's setting allows to be fetched from."""

from collections.abc import Callable
from typing import Any

import pytest

from ferrule import ToolError
from ferrule.http import Guard
from ferrule_dev.testing import context
from ferrule_fetch.transfer.request_policy import RequestPolicy

Error = Callable[..., tuple[str, str]]


@pytest.fixture(autouse=True)
def _nothing_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FERRULE_FETCH_ALLOW")


@pytest.mark.parametrize(
    ("variable", "setting", "allowed"),
    [
        (None, None, set()),
        ("", None, set()),
        ("loopback", None, {"loopback"}),
        ("private", None, {"private"}),
        (" Loopback , PRIVATE,, ", None, {"loopback", "private"}),
        (None, "loopback, private", {"loopback", "private"}),
        (None, ["private"], {"private"}),
        (None, [], set()),
        ("", ["private"], {"private"}),
        ("loopback", ["private"], {"loopback"}),
    ],
)
def test_the_environment_decides_and_then_the_configuration(
    monkeypatch: pytest.MonkeyPatch, variable: str | None, setting: Any, allowed: set[str]
) -> None:
    if variable is not None:
        monkeypatch.setenv("FERRULE_FETCH_ALLOW", variable)
    guard = RequestPolicy.from_context(
        context("web_fetch", settings={} if setting is None else {"allow": setting})
    ).guard
    assert {
        word for word, host in {"loopback": "127.0.0.1", "private": "10.0.0.1"}.items() if _lets_in(guard, host)
    } == allowed


def _lets_in(guard: Guard, host: str) -> bool:
    try:
        guard(host, [host])
    except ToolError:
        return False
    return True


@pytest.mark.parametrize(
    ("variable", "setting", "told"),
    [
        ("lan", None, "'lan'"),
        ("loopback,all,*", None, "'*, all'"),
        ("loopback private", None, "'loopback private'"),
        (None, "localhost", "'localhost'"),
        (None, ["loopback", "10.0.0.0/8"], "'10.0.0.0/8'"),
        (None, [1], "[1]"),
        (None, True, "True"),
        (None, {"loopback": True}, "{'loopback': True}"),
    ],
)
def test_an_unknown_word_is_told_with_the_name_of_the_setting(
    monkeypatch: pytest.MonkeyPatch, variable: str | None, setting: Any, told: str
) -> None:
    if variable is not None:
        monkeypatch.setenv("FERRULE_FETCH_ALLOW", variable)
    with pytest.raises(ToolError) as refused:
        RequestPolicy.from_context(context("web_fetch", settings={"allow": setting}))
    assert refused.value.message == (
        f"Failed to fetch URL: FERRULE_FETCH_ALLOW, or 'allow' in the tool's table of config.toml, holds {told}."
    )
    assert refused.value.hint == "It takes a comma list of loopback and private."


def test_a_word_that_is_unknown_lets_nothing_be_fetched(monkeypatch: pytest.MonkeyPatch, error: Error) -> None:
    monkeypatch.setenv("FERRULE_FETCH_ALLOW", "loopback,everything")
    code, message = error("http://127.0.0.1/")
    assert code == "NETWORK_ERROR"
    assert "'everything'" in message
