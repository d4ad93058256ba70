"""The settings of a client: argument > environment > `[ask]` in config.toml > default.

    [ask]
    model = "claude-sonnet-5-5"       # FERRULE_ASK_MODEL; with a provider other than Anthropic: "openai/gpt-5"
    max_calls = 1                     # FERRULE_ASK_MAX_CALLS: of tools, in one question
    max_tokens = 1000                 # FERRULE_ASK_MAX_TOKENS
    budgets = [30, 10, 30]            # FERRULE_ASK_BUDGETS="30 10 30": seconds for question, tool, answer
    api_version = "2026-10-21"        # FERRULE_ASK_API_VERSION: the header anthropic-version
    base_url = "https://gateway"      # ANTHROPIC_BASE_URL
    on_tool_error = "answer"          # FERRULE_ASK_ON_TOOL_ERROR: answer, null or raise
    requests_per_minute = 50          # FERRULE_ASK_REQUESTS_PER_MINUTE; else what the provider tells
    tokens_per_minute = 40000         # FERRULE_ASK_TOKENS_PER_MINUTE
    tool_tokens = 1500                # FERRULE_ASK_TOOL_TOKENS: of a tool's result that the model gets; of no search
    system = "Answer in French."      # FERRULE_ASK_SYSTEM: what the model is told beside the question
    citations = true                  # FERRULE_ASK_CITATIONS: of tools' results; without a gateway by default
    redis = "redis://host:6379/0"     # FERRULE_REDIS: where machines share the pace and the answers that are kept

    [ask.search_prices]               # US dollars for a thousand searches, by tool; for plans
    web_search_brave = 5

    [ask.prices]                      # US dollars for a million tokens of input and of output
    claude-next = [3, 15]

    [ask.providers.local]             # `ferrule_ask.models.registry` says what stands here
    base_url = "http://localhost:8000/v1"

A blank value is not set. The environment is read anew for each question, the file once.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from ferrule.config import read
from ferrule.errors import ConfigurationMalformed
from ferrule_ask.cost.prices import Price
from ferrule_ask.models import registry
from ferrule_ask.models.anthropic import ANTHROPIC
from ferrule_ask.pace.pacer import Pace
from ferrule_ask.typed_answers import checked

if TYPE_CHECKING:
    from ferrule.config import Configuration
    from ferrule.text.json_types import JSONMapping
    from ferrule_ask.models.provider import Provider, Streaming

MODEL, MAX_TOKENS, API_VERSION = "claude-sonnet-5-5", 1000, "2026-10-21"
TOOL_TOKENS = 1_500
_MAX_TOOL_TOKENS = 1_000_000
MAX_CALLS = 1
_MOST_CALLS = 64
_MAX_BUDGET_SECONDS = 86_400.0
ON_TOOL_ERROR = ("answer", "null", "raise")
_DESCRIPTION = ("base_url", "api", "key", "key_header", "api_version")  # of a provider
_HEADER_NAME = re.compile(r"[A-Za-z0-9-]+")
_T = TypeVar("_T")


class Budgets(NamedTuple):
    """Seconds for each step of a question: the first request with its retries, the tool, the second request."""

    question: float = 30.0
    tool: float = 10.0
    answer: float = 30.0


class Settings(NamedTuple):
    """The settings of one question.

    model: as its provider names it. base_url: of the provider, without what each API has behind it.

    patience: seconds that the question may wait for its turns, beside the budgets; None where waits have to fit into
    these. on_tool_error: "answer" where the model answers from what it knows when its tool has failed, else there is no
    answer.
    pace: limits of the user's own. redis: a URL, or "". system: what the model is told beside the question.
    tool_tokens: the most of a tool's result that the model gets, about. search_prices: by tool, US dollars for
    a thousand. schema: of the answer; None for any text. max_calls: of tools, in one question. streams: whether
    the text comes in pieces. cites: whether Anthropic may get a tool's result in parts that it can cite.
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
    provider: Provider = ANTHROPIC
    max_calls: int = MAX_CALLS
    streams: bool = False
    cites: bool = False

    @property
    def streaming(self) -> Streaming | None:
        """How the answer is asked for in pieces; None where it is to come whole, or the provider has nothing else."""
        return getattr(self.provider, "streaming", None) if self.streams else None


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
    max_calls: int | None = None
    usual_max_calls: int = MAX_CALLS
    streams: bool = False


class Reader:
    """Works out the settings of each question. Reads config.toml when it is made; raises ConfigurationMalformed."""

    def __init__(self, overrides: AskOverrides, configured: Configuration | None = None) -> None:
        self._overrides = overrides
        self._file = read() if configured is None else configured
        table = self._file.content.get("ask", {})
        if not isinstance(table, dict):
            raise _wrong("[ask]", self._file.path, "a table")
        self._table: JSONMapping = table
        self._described = self._providers_in(table.get("providers"))
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
        provider, name = self._model(self._one(model or given.model, "FERRULE_ASK_MODEL", "model", _text, MODEL))
        return Settings(
            name,
            self._one(most, "FERRULE_ASK_MAX_TOKENS", "max_tokens", _count, MAX_TOKENS),
            self._base_url(provider),
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
            provider,
            self._one(given.max_calls, "FERRULE_ASK_MAX_CALLS", "max_calls", _calls, given.usual_max_calls),
            given.streams,
            # Of a gateway it is not known whether it passes on what it does not know.
            self._one(None, "FERRULE_ASK_CITATIONS", "citations", _switch, self._is_anthropic(provider)),
        )

    @property
    def prices(self) -> Mapping[str, Price]:
        """The prices that the settings and the arguments give, by model."""
        return self._prices

    @property
    def providers(self) -> Sequence[str]:
        """The names of all providers, in the order of the alphabet."""
        return registry.list_names(self._described)

    def _model(self, text: str) -> tuple[Provider, str]:
        """The provider of a model and the model's name. Raises ConfigurationMalformed."""
        name, model = registry.split(text)
        provider = registry.find(name or registry.DEFAULT, self._described)
        if provider is not None:
            return provider, model
        if self._base_url(ANTHROPIC) != ANTHROPIC.base_url:
            return ANTHROPIC, text  # a gateway may have any name for a model
        known = ", ".join(registry.list_names(self._described))
        sentence = f"There is no provider {name!r} for the model {text!r}, only: {known}."
        hint = f"Name one of these before the slash, or describe it in [ask.providers.{name}] of {self._file.path}."
        raise ConfigurationMalformed(sentence, hint=hint)

    def _is_anthropic(self, provider: Provider) -> bool:
        return provider is ANTHROPIC and self._base_url(provider) == ANTHROPIC.base_url

    def _base_url(self, provider: Provider) -> str:
        given = self._overrides.base_url
        if provider is ANTHROPIC:
            return self._one(given, "ANTHROPIC_BASE_URL", "base_url", _text, provider.base_url)
        variable = provider.base_url_variable if provider.base_url_variable.isidentifier() else ""
        value = given or os.environ.get(variable, "").strip() or provider.base_url
        try:
            return _text(value)
        except ValueError as error:
            raise _wrong(provider.base_url_variable, self._file.path, str(error)) from None

    def _providers_in(self, table: object) -> dict[str, dict[str, str]]:
        found = {} if table is None else table
        if isinstance(found, Mapping) and all(_is_description(one) for one in found.values()):
            return {str(name): dict(one) for name, one in found.items()}
        what = f"a table for each provider, with the texts {', '.join(_DESCRIPTION)}; a header has no blanks"
        raise _wrong("[ask.providers]", self._file.path, what)

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


def _is_description(value: object) -> bool:
    if not isinstance(value, Mapping) or not set(_DESCRIPTION).issuperset(value):
        return False
    if not all(isinstance(text, str) and text.isprintable() for text in value.values()):
        return False
    return "key_header" not in value or bool(_HEADER_NAME.fullmatch(value["key_header"]))


def _calls(value: object) -> int:
    return min(_count(value), _MOST_CALLS)


def _switch(value: object) -> bool:
    known = {True: True, False: False, "true": True, "false": False}
    try:
        return known[value.strip().lower() if isinstance(value, str) else value]
    except (KeyError, TypeError):
        raise ValueError("true or false") from None


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
