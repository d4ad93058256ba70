"""The settings of a client: argument > environment > `[ask]` in config.toml > default.

    [ask]
    model = "claude-sonnet-5-5"       # FERRULE_ASK_MODEL
    max_tokens = 1000                 # FERRULE_ASK_MAX_TOKENS
    budgets = [30, 10, 30]            # FERRULE_ASK_BUDGETS="30 10 30": seconds for question, tool, answer
    api_version = "2026-10-21"        # FERRULE_ASK_API_VERSION: the header anthropic-version
    base_url = "https://gateway"      # ANTHROPIC_BASE_URL
    on_tool_error = "answer"          # FERRULE_ASK_ON_TOOL_ERROR: answer, null or raise
    requests_per_minute = 50          # FERRULE_ASK_REQUESTS_PER_MINUTE; else what the provider tells
    tokens_per_minute = 40000         # FERRULE_ASK_TOKENS_PER_MINUTE
    tool_tokens = 1500                # FERRULE_ASK_TOOL_TOKENS: of a tool's result that the model gets; of no search
    system = "Answer in French."      # FERRULE_ASK_SYSTEM: what the model is told beside the question
    redis = "redis://host:6379/0"     # FERRULE_REDIS: where machines share the pace and the answers that are kept

    [ask.search_prices]               # US dollars for a thousand searches, by tool; for plans
    web_search_brave = 5

    [ask.prices]                      # US dollars for a million tokens of input and of output
    claude-next = [3, 15]

A blank value is not set. The environment is read anew for each question, the file once.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from ferrule.config import read
from ferrule.errors import ConfigurationMalformed
from ferrule_ask.cost.prices import Price
from ferrule_ask.pace.pacer import Pace
from ferrule_ask.typed_answers import checked

if TYPE_CHECKING:
    from ferrule.config import Configuration
    from ferrule.text.json_types import JSONMapping

MODEL, MAX_TOKENS, API_VERSION = "claude-sonnet-5-5", 1000, "2026-10-21"
TOOL_TOKENS = 1_500
_MAX_TOOL_TOKENS = 1_000_000
BASE_URL = "https://api.anthropic.com"
_MAX_BUDGET_SECONDS = 86_400.0
ON_TOOL_ERROR = ("answer", "null", "raise")
_T = TypeVar("_T")


class Budgets(NamedTuple):
    """Seconds for each step of a question: the first request with its retries, the tool, the second request."""

    question: float = 30.0
    tool: float = 10.0
    answer: float = 30.0


class Settings(NamedTuple):
    """The settings of one question. base_url: without `/v1/messages`.

    patience: seconds that the question may wait for its turns, beside the budgets; None where waits have to fit into
    these. on_tool_error: "answer" where the model answers from what it knows when its tool has failed, else there is no
    answer.
    pace: limits of the user's own. redis: a URL, or "". system: what the model is told beside the question.
    tool_tokens: the most of a tool's result that the model gets, about. search_prices: by tool, US dollars for
    a thousand. schema: of the answer; None for any text.
    """

    model: str
    max_tokens: int
    base_url: str
    api_version: str
    budgets: Budgets
    prices: Mapping[str, Price]
    patience: float | None = None
    on_tool_error: str = "answer"
    pace: Pace = Pace()
    redis: str = ""
    system: str = ""
    tool_tokens: int = TOOL_TOKENS
    search_prices: Mapping[str, float] = MappingProxyType({})
    schema: JSONMapping | None = None


class AskOverrides(NamedTuple):
    """Settings given as arguments; None is not given."""

    model: str | None = None
    max_tokens: int | None = None
    base_url: str | None = None
    budgets: Sequence[float] | None = None
    prices: Mapping[str, Sequence[float]] | None = None
    patience: float | None = None
    on_tool_error: str | None = None
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    system: str | None = None
    tool_tokens: int | None = None


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
        self._search_prices = self._search_prices_in(table.get("search_prices"))
        self._prices = configured_prices | self._prices_in(overrides.prices, "prices")

    def settings(
        self,
        model: str | None = None,
        max_tokens: int | None = None,
        patience: float | None = None,
        schema: JSONMapping | None = None,
    ) -> Settings:
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
            given.patience if patience is None else patience,
            self._one(given.on_tool_error, "FERRULE_ASK_ON_TOOL_ERROR", "on_tool_error", _choice, ON_TOOL_ERROR[0]),
            Pace(
                self._one(
                    given.requests_per_minute, "FERRULE_ASK_REQUESTS_PER_MINUTE", "requests_per_minute", _rate, None
                ),
                self._one(given.tokens_per_minute, "FERRULE_ASK_TOKENS_PER_MINUTE", "tokens_per_minute", _rate, None),
            ),
            self._one(None, "FERRULE_REDIS", "redis", _text, ""),
            self._one(given.system, "FERRULE_ASK_SYSTEM", "system", _lines, ""),
            self._one(given.tool_tokens, "FERRULE_ASK_TOOL_TOKENS", "tool_tokens", _tool_tokens, TOOL_TOKENS),
            self._search_prices,
            schema if schema is None else self._one(schema, "", "schema", checked, schema),
        )

    def _one(self, given: object, variable: str, key: str, convert: Callable[[object], _T], default: _T) -> _T:
        value = os.environ.get(variable, "").strip() if variable else ""
        places = ((given, f"the argument {key}"), (value, variable), (self._table.get(key), f"{key} in [ask]"))
        for value_there, place in places:
            if value_there is not None and value_there != "":
                try:
                    return convert(value_there)
                except ValueError as error:
                    raise _wrong(place, self._file.path, str(error)) from None
        return default

    def _search_prices_in(self, table: object) -> dict[str, float]:
        found = {} if table is None else table
        if isinstance(found, Mapping) and all(_is_amount(number) for number in found.values()):
            return {str(tool): float(number) for tool, number in found.items()}
        what = "a table of tools, each with the dollars for a thousand searches"
        raise _wrong("[ask.search_prices]", self._file.path, what)

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


def _is_amount(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value) and value >= 0


def _lines(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("text")
    return value.strip()


def _tool_tokens(value: object) -> int:
    return min(_count(value), _MAX_TOOL_TOKENS)


def _header(value: object) -> str:
    text = _text(value)
    if not text.isascii():
        raise ValueError("text in one line of ASCII")
    return text


def _choice(value: object) -> str:
    if value not in ON_TOOL_ERROR:
        raise ValueError('"answer", "null" or "raise"')
    return str(value)


def _rate(value: object) -> float | None:
    try:
        number = float(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else 0.0
    except ValueError:
        number = 0.0
    if not (isfinite(number) and number >= 1):
        raise ValueError("a number from 1")
    return number


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
