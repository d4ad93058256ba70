"""What a tool is given beside its arguments."""

import time
from pathlib import Path
from typing import Any

import pytest

import ferrule
from ferrule import Context, Credential, ToolError
from ferrule.plugin.hooks.context import ANSWER_BYTES

KEY = Credential("api_key", environment="DICE_API_KEY", path="dice.api_key", url="https://dice.example/keys")


@pytest.fixture(autouse=True)
def no_credentials(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which the credentials file is looked for; nothing is set."""
    monkeypatch.setenv("IKIGAI_CONFIG_DIR", str(tmp_path))
    monkeypatch.delenv("DICE_API_KEY", raising=False)
    return tmp_path


def test_what_is_left_of_the_time_counts_down_and_is_never_negative() -> None:
    context = Context("dice", time.monotonic() + 3600)
    first = context.remaining()
    assert 0 < context.remaining() <= first <= 3600
    assert Context("dice", time.monotonic() - 5).remaining() == 0.0


@pytest.mark.parametrize(
    ("answer", "size"),
    [({}, 2), ({"a": [1, None, True]}, 19), ({"é": "😀"}, 13), ({"a": "\n"}, 10), ({"a": "x" * 70_000}, 70_008)],
    ids=["empty", "compact", "utf-8", "escaped", "large"],
)
def test_the_size_of_an_answer_is_that_on_the_wire(answer: dict[str, Any], size: int) -> None:
    assert Context("dice", 0.0).size(answer) == size


@pytest.mark.parametrize("answer", [{"a": float("nan")}, {"a": "\ud800"}, {"a": "\0"}, {1: 2}, {"a": {1}}], ids=ascii)
def test_an_answer_that_json_cannot_hold_has_no_size(answer: Any) -> None:
    with pytest.raises(ValueError, match=r"^/"):
        Context("dice", 0.0).size(answer)


def test_an_answer_may_have_all_that_the_client_reads_but_the_newline() -> None:
    assert Context("dice", 0.0).max_bytes == ANSWER_BYTES == 65_535 - 1
    assert Context("dice", 0.0, max_bytes=10).max_bytes == 10


def test_a_credential_is_looked_up_when_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    context = Context("dice", 0.0, credentials=[KEY])
    monkeypatch.setenv("DICE_API_KEY", "k3y-1")
    assert context.credential("api_key") == "k3y-1"


def test_a_credential_that_is_set_nowhere_is_an_error_of_the_tool_under_the_name_it_is_linked_under(
    no_credentials: Path,
) -> None:
    context = Context("dice", 0.0, credentials=[KEY], names={"dice": "roll"})
    with pytest.raises(ToolError) as caught:
        context.credential("api_key")
    assert caught.value.code == "AUTH_MISSING"
    assert caught.value.message == (
        "roll needs api_key. Get one: https://dice.example/keys. Set DICE_API_KEY, or add it to "
        f"{no_credentials}/credentials.json as 'dice.api_key'."
    )
    assert caught.value.event is not None
    assert '"tool": "roll"' in str(caught.value.event["data_json"])


def test_a_credential_that_was_not_declared_is_a_mistake_of_the_plugin() -> None:
    with pytest.raises(KeyError, match=r"not declared by the tool; its credentials hook lists \[\]"):
        Context("dice", 0.0).credential("api_key")


@pytest.mark.parametrize(
    ("variable", "table", "setting"),
    [
        (None, {}, None),
        (None, {"sides": 6}, 6),
        (None, {"sides": ["6", "20"]}, ["6", "20"]),
        ("", {"sides": 6}, 6),
        ("  ", {"sides": 6}, 6),
        (" 20 ", {"sides": 6}, "20"),
        ("20", {}, "20"),
    ],
)
def test_a_setting_comes_from_its_variable_and_then_from_the_table_of_the_tool(
    monkeypatch: pytest.MonkeyPatch, variable: str | None, table: dict[str, Any], setting: Any
) -> None:
    monkeypatch.delenv("DICE_SIDES", raising=False)
    if variable is not None:
        monkeypatch.setenv("DICE_SIDES", variable)
    assert Context("dice", 0.0, settings=table).setting("sides", "DICE_SIDES") == setting


def test_a_sibling_is_named_as_the_client_knows_it() -> None:
    context = Context("dice", 0.0, names={"cards": "deck"})
    assert (context.name_of("cards"), context.name_of("dice")) == ("deck", "dice")


def test_an_event_goes_to_whoever_runs_the_tool() -> None:
    sent: list[Any] = []
    Context("dice", 0.0, send_event=sent.append).event({"event": "progress"})
    assert sent == [{"event": "progress"}]
    Context("dice", 0.0).event({"event": "progress"})


def test_the_public_names_are_those_that_the_package_lists() -> None:
    for name in ferrule.__all__:
        assert getattr(ferrule, name) is not None
    with pytest.raises(AttributeError, match="module 'ferrule' has no attribute 'nothing'"):
        _ = ferrule.nothing  # type: ignore[attr-defined] # what is not there is what is tried
