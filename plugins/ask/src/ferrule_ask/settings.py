"""The settings of a client: argument > environment > `[ask]` in config.toml > default.

    [ask]
    model = "claude-sonnet-5-5"       # FERRULE_ASK_MODEL
    max_tokens = 1000                 # FERRULE_ASK_MAX_TOKENS
    budgets = [30, 10, 30]            # FERRULE_ASK_BUDGETS="30 10 30": seconds for question, tool, answer
    api_version = "2026-10-21"        # FERRULE_ASK_API_VERSION: the header anthropic-version
    base_url = "https://gateway"      # ANTHROPIC_BASE_URL

    [ask.prices]                      # US dollars for a million tokens of input and of output
    claude-next = [3, 15]

A blank value is not set. The environment is read anew for each question, the file once.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from ferrule.config import read
from ferrule.errors import ConfigurationMalformed
from ferrule_ask.prices import Price

if TYPE_CHECKING:
    from ferrule.config import Configuration
    from ferrule.text.json_types import JSONMapping

MODEL, MAX_TOKENS, API_VERSION = "claude-sonnet-5-5", 1000, "2026-10-21"
BASE_URL = "https://api.anthropic.com"
_MAX_BUDGET_SECONDS = 86_400.0
_T = TypeVar("_T")


class Budgets(NamedTuple):
    """Seconds for each step of a question: the first request with its retries, the tool, the second request."""

    question: float = 30.0
    tool: float = 10.0
    answer: float = 30.0


class Settings(NamedTuple):
    """The settings of one question. base_url: without `/v1/messages`."""

    model: str
    max_tokens: int
    base_url: str
    api_version: str
    budgets: Budgets
    prices: Mapping[str, Price]


class AskOverrides(NamedTuple):
    """Settings given as arguments; None is not given."""

    model: str | None = None
    max_tokens: int | None = None
    base_url: str | None = None
    budgets: Sequence[float] | None = None
    prices: Mapping[str, Sequence[float]] | None = None


class Reader:
    """Works out the settings of each question. Reads config.toml when it is made; raises ConfigurationMalformed."""

    def __init__(self, overrides: AskOverrides, configured: Configuration | None = None) -> None:
        self._overrides = overrides
        self._file = read() if configured is None else configured
        table = self._file.content.get("ask", {})
        if not isinstance(table, dict):
            raise _wrong("[ask]", self._file.path, "a table")
        self._table: JSONMapping = table
        configured_prices = self._prices_in(table.get("prices"), "[ask.prices]")
        self._prices = configured_prices | self._prices_in(overrides.prices, "prices")

    def settings(self, model: str | None = None, max_tokens: int | None = None) -> Settings:
        """The settings of a question with these arguments. Raises ConfigurationMalformed."""
        given = self._overrides
        most = given.max_tokens if max_tokens is None else max_tokens
        return Settings(
            self._one(model or given.model, "FERRULE_ASK_MODEL", "model", _text, MODEL),
            self._one(most, "FERRULE_ASK_MAX_TOKENS", "max_tokens", _count, MAX_TOKENS),
            self._one(given.base_url, "ANTHROPIC_BASE_URL", "base_url", _text, BASE_URL),
            self._one(None, "FERRULE_ASK_API_VERSION", "api_version", _header, API_VERSION),
            self._one(given.budgets, "FERRULE_ASK_BUDGETS", "budgets", _budgets, Budgets()),
            self._prices,
        )

    def _one(self, given: object, variable: str, key: str, convert: Callable[[object], _T], default: _T) -> _T:
        value = os.environ.get(variable, "").strip()
        places = ((given, f"the argument {key}"), (value, variable), (self._table.get(key), f"{key} in [ask]"))
        for value_there, place in places:
            if value_there is not None and value_there != "":
                try:
                    return convert(value_there)
                except ValueError as error:
                    raise _wrong(place, self._file.path, str(error)) from None
        return default

    def _prices_in(self, table: object, place: str) -> dict[str, Price]:
        if table is None:
            return {}
        try:
            if not isinstance(table, Mapping) or any(isinstance(numbers, str) for numbers in table.values()):
                raise TypeError
            return {str(model): Price.of(*numbers) for model, numbers in table.items()}
        except (TypeError, ValueError):
            what = "a table of models, each with the dollars for a million tokens of input and of output"
            raise _wrong(place, self._file.path, what) from None


# Each of these raises ValueError where a value is not what the setting takes, and says what that is.


def _text(value: object) -> str:
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        raise ValueError("text in one line")
    return value.strip()


def _header(value: object) -> str:
    text = _text(value)
    if not text.isascii():
        raise ValueError("text in one line of ASCII")
    return text


def _count(value: object) -> int:
    try:
        number = int(value) if isinstance(value, str) else value
    except ValueError:
        number = None
    if not isinstance(number, int) or isinstance(number, bool) or number < 1:
        raise ValueError("a whole number from 1")
    return number


def _budgets(value: object) -> Budgets:
    parts = value.replace(",", " ").split() if isinstance(value, str) else value
    try:
        seconds = [float(part) for part in parts] if isinstance(parts, Sequence) else []
    except (TypeError, ValueError, OverflowError):
        seconds = []
    if len(seconds) != len(Budgets._fields) or not all(isfinite(one) and one > 0 for one in seconds):
        raise ValueError("three numbers of seconds, each more than 0")
    return Budgets(*(min(one, _MAX_BUDGET_SECONDS) for one in seconds))


def _wrong(place: str, path: str, what: str) -> ConfigurationMalformed:
    where = f"{place} in {path}" if "[ask" in place else place
    sentence = f"{where[0].upper()}{where[1:]} has to be {what}."
    return ConfigurationMalformed(sentence, hint="Correct it, or leave it out.")
