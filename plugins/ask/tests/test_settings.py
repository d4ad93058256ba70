"""What a client goes by, and whose word counts."""

from pathlib import Path

import pytest

from ferrule.errors import ConfigurationMalformed
from ferrule_ask.cost.prices import Price, price_of
from ferrule_ask.models.anthropic import ANTHROPIC
from ferrule_ask.settings import API_VERSION, MAX_TOKENS, MODEL, AskOverrides, Budgets, Reader, Settings
from ferrule_dev.testing import Environment

VARIABLES = ("FERRULE_ASK_MODEL", "FERRULE_ASK_MAX_TOKENS", "FERRULE_ASK_BUDGETS", "FERRULE_ASK_API_VERSION")


@pytest.fixture(autouse=True)
def file(ferrule_environment: Environment, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("ANTHROPIC_BASE_URL", raising=False)
    return ferrule_environment.config_toml


def test_nothing_said_gives_the_defaults() -> None:
    assert Reader(AskOverrides()).settings() == Settings(
        MODEL, MAX_TOKENS, ANTHROPIC.base_url, API_VERSION, Budgets(30, 10, 30), {}, cites=True
    )


def test_an_argument_counts_before_the_environment_before_the_file(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.write_text('[ask]\nmodel = "of the file"\nmax_tokens = 5\nbase_url = "http://file"\nbudgets = [3, 2, 1]\n')
    reader = Reader(AskOverrides())
    assert reader.settings()[:3] == ("of the file", 5, "http://file")
    assert reader.settings().budgets == (3, 2, 1)
    for name, value in zip((*VARIABLES[:3], "ANTHROPIC_BASE_URL"), ("env", "6", "4 4,4", "http://env"), strict=True):
        monkeypatch.setenv(name, value)
    assert reader.settings()[:3] == ("env", 6, "http://env")
    assert reader.settings().budgets == (4, 4, 4)
    given = Reader(AskOverrides(model="given", max_tokens=7, base_url="http://given", budgets=(9, 9, 9)))
    assert given.settings()[:3] == ("given", 7, "http://given")
    assert given.settings("of the question", 8)[:2] == ("of the question", 8)


@pytest.mark.parametrize("name", [*VARIABLES, "ANTHROPIC_BASE_URL"])
def test_a_blank_variable_is_not_set(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, " \n")
    assert Reader(AskOverrides()).settings() == Settings(
        MODEL, MAX_TOKENS, ANTHROPIC.base_url, API_VERSION, Budgets(), {}, cites=True
    )


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("ask = 5", "a table"),
        ("[ask]\nmax_tokens = 0", "whole number from 1"),
        ("[ask]\nmax_tokens = true", "whole number from 1"),
        ("[ask]\nmodel = 5", "text in one line"),
        ("[ask]\nbudgets = [1, 2]", "three numbers"),
        ("[ask]\nbudgets = [1, 2, inf]", "three numbers"),
        ("[ask]\nbudgets = 5", "three numbers"),
    ],
)
def test_a_setting_of_the_wrong_kind_is_explained(text: str, what: str, file: Path) -> None:
    file.write_text(text)
    with pytest.raises(ConfigurationMalformed, match=what):
        Reader(AskOverrides()).settings()


@pytest.mark.parametrize(
    ("name", "value", "what"),
    [
        ("FERRULE_ASK_MAX_TOKENS", "zero", "a whole number from 1"),
        ("FERRULE_ASK_MAX_TOKENS", "1.5", "a whole number from 1"),
        ("FERRULE_ASK_BUDGETS", "thirty 10 30", "three numbers of seconds, each more than 0"),
        ("FERRULE_ASK_API_VERSION", "today–1", "text in one line of ASCII"),
    ],
)
def test_a_variable_of_the_wrong_kind_is_explained(
    name: str, value: str, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ConfigurationMalformed) as raised:
        Reader(AskOverrides()).settings()
    assert raised.value.message == f"{name} has to be {what}."


@pytest.mark.parametrize(
    "prices", ["claude = 5", "claude = [1]", "claude = [1, 2, 3]", "claude = ['a', 'b']", "c = [-1, 1]", "c = '12'"]
)
def test_a_price_is_two_numbers(prices: str, file: Path) -> None:
    file.write_text(f"[ask.prices]\n{prices}\n")
    with pytest.raises(ConfigurationMalformed, match="dollars for a million tokens"):
        Reader(AskOverrides())


def test_a_model_may_cost_nothing_and_no_less() -> None:
    assert Price.of(0, "0").cost(1_000_000, 1_000_000) == 0
    with pytest.raises(ValueError, match="not negative"):
        Price.of(0, -1)


def test_a_price_of_the_arguments_counts_before_that_of_the_file_before_the_table(file: Path) -> None:
    file.write_text("[ask.prices]\nclaude-sonnet-5-5 = [7, 8]\nmine = [1, 2]\n")
    prices = Reader(AskOverrides(prices={"mine": (5, 6)})).settings().prices
    assert price_of("claude-sonnet-5-5", prices) == Price.of(7, 8)
    assert price_of("mine", prices) == Price.of(5, 6)
    assert price_of("claude-opus-5-5", prices)[:2] == (4, 20)
    assert price_of("claude-opus-5-5-20260901", prices)[:2] == (4, 20)
    assert price_of("unheard-of", prices) is None
