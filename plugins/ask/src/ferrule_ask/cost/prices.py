"""What tokens cost, and how many of them a request can take at the most."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from decimal import Decimal
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONMapping

_MILLION = 1_000_000
_DATED = re.compile(r"-(?:\d{8}|\d{4}-\d{2}-\d{2})$")
_WRITING, _READING = Decimal("2"), Decimal("0.1")  # of a cache, in prices of input; writing for an hour is the dearest
# What comes on top of the text of a request: the roles, and what the API itself says to a model about tools.
_FRAME_TOKENS = 1_024


class Tokens(NamedTuple):
    """Tokens as a reply reports them."""

    input: int = 0
    cache_writing: int = 0
    cache_reading: int = 0
    output: int = 0

    @property
    def all_input(self) -> int:
        """Those that came out of a cache, or went into it, included."""
        return self.input + self.cache_writing + self.cache_reading


class LongPrice(NamedTuple):
    """US dollars for a million tokens of a request that has more tokens of input than `over`."""

    over: int
    input: Decimal
    output: Decimal
    cached: Decimal | None = None

    def half(self) -> LongPrice:
        """Half of each of its prices."""
        return LongPrice(self.over, self.input / 2, self.output / 2, self.cached and self.cached / 2)


class Price(NamedTuple):
    """US dollars for a million tokens. cached: of input out of a cache; None for a tenth of other input."""

    input: Decimal
    output: Decimal
    cached: Decimal | None = None
    long: LongPrice | None = None

    @classmethod
    def of(cls, dollars_in: float | str, dollars_out: float | str) -> Price:
        """The price for these two numbers. Raises ValueError where one of them is none, or is negative."""
        try:
            price = cls(Decimal(str(dollars_in)), Decimal(str(dollars_out)))
        except ArithmeticError:
            raise ValueError("a price is two numbers") from None
        if not all(number.is_finite() and number >= 0 for number in (price.input, price.output)):
            raise ValueError("a price is two numbers that are not negative")
        return price

    def half(self) -> Price:
        """Half of each of its prices, as a batch has it."""
        long = self.long and self.long.half()
        return Price(self.input / 2, self.output / 2, self.cached and self.cached / 2, long)

    def cost(self, input_tokens: int, output_tokens: int) -> Decimal:
        """US dollars for so many tokens."""
        one = self._choose(input_tokens)
        return (one.input * input_tokens + one.output * output_tokens) / _MILLION

    def cost_of(self, usage: Tokens) -> Decimal:
        """US dollars for what a reply reports."""
        one = self._choose(usage.all_input)
        cached = one.input * _READING if one.cached is None else one.cached
        given = one.input * (usage.input + usage.cache_writing * _WRITING) + cached * usage.cache_reading
        return (given + one.output * usage.output) / _MILLION

    def _choose(self, input_tokens: int) -> Price | LongPrice:
        return self.long if self.long is not None and input_tokens > self.long.over else self


class PublishedPrices(NamedTuple):
    """The prices of one provider. date: on which they were looked up. source: where. models: by name."""

    date: str
    source: str
    models: Mapping[str, Price]


@lru_cache(maxsize=1)
def published() -> Mapping[str, PublishedPrices]:
    """What prices.json has, by provider. A model that is not there has a price only where the settings give one."""
    table = json.loads(files(__package__).joinpath("prices.json").read_text("utf-8"), parse_float=Decimal)
    found = {
        provider: PublishedPrices(
            facts["date"], facts["source"], {model: _price(one) for model, one in facts["models"].items()}
        )
        for provider, facts in table["providers"].items()
    }
    return found | {provider: found[other] for provider, other in table["same"].items()}


def _price(facts: JSONMapping) -> Price:
    """A price of prices.json."""
    numbers = [None if facts.get(name) is None else Decimal(facts[name]) for name in ("input", "output", "cached")]
    given, written, cached = numbers
    assert given is not None  # noqa: S101 - a test reads the whole file
    assert written is not None  # noqa: S101 - as above
    dear = facts.get("long")
    long = dear and LongPrice(dear["over"], *(_price(dear)[:3]))
    return Price(given, written, cached, long)


def price_of(model: str, prices: Mapping[str, Price], provider: str = "anthropic") -> Price | None:
    """The price of a model, or of the model without the date at its end: `prices` first, then prices.json.

    In `prices` the model's name may stand with its provider's before it.
    """
    undated = _DATED.sub("", model)
    known = published()[provider].models if provider in published() else {}
    names = (f"{provider}/{model}", f"{provider}/{undated}", model, undated)
    found = [prices[name] for name in names if name in prices]
    return found[0] if found else known.get(model) or known.get(undated)


def max_tokens(size: int) -> int:
    """More input tokens than a request with a body of so many bytes can have.

    A token stands for one byte at least, and JSON is no shorter than the text that it holds.
    """
    return size + _FRAME_TOKENS


def likely_tokens(size: int) -> int:
    """About how many input tokens a body of so many bytes has; for English text and JSON."""
    return (size + 3) // 4
