"""All prices that are known, of the settings and of the makers, and whose models have none."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ferrule_ask.cost.prices import published

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from decimal import Decimal

    from ferrule.text.json_types import JSONObject
    from ferrule_ask.cost.prices import Price

OWN = "[ask.prices]"
UNKNOWN = "unknown"


class ListedPrice(NamedTuple):
    """A line of the list. model: as `--model` takes it, or `PROVIDER/*` for all of a provider that have no other line.

    price: None where it is not known. date, source: of the price; empty for none.
    """

    model: str
    price: Price | None
    date: str
    source: str

    def facts(self) -> JSONObject:
        """The line as JSON; dollars for a million tokens, None where they are not known."""
        price = self.price
        long = price.long if price else None
        return {
            "model": self.model,
            "input": _number(price and price.input),
            "output": _number(price and price.output),
            "cached": _number(price and price.cached),
            "long": long
            and {
                "over": long.over,
                "input": _number(long.input),
                "output": _number(long.output),
                "cached": _number(long.cached),
            },
            "date": self.date,
            "source": self.source,
        }

    def cells(self) -> tuple[str, ...]:
        """The line as cells of a table, below `HEADINGS`."""
        price = self.price
        if price is None:
            return self.model, UNKNOWN, UNKNOWN, "", "", "", f"give it in {OWN} of config.toml"
        long = price.long
        dear = f"{long.input} and {long.output} over {long.over:,} tokens" if long else ""
        cached = "" if price.cached is None else str(price.cached)
        return self.model, str(price.input), str(price.output), cached, dear, self.date, self.source


HEADINGS = ("model", "input", "output", "cached", "long requests", "date", "source")


def list_prices(own: Mapping[str, Price], providers: Iterable[str]) -> Iterator[ListedPrice]:
    """The list: what the settings say, then what is published, then the providers of which nothing is.

    Args:
        own: by model, of the settings.
        providers: names of all that there are.
    """
    for model, price in own.items():
        yield ListedPrice(model, price, "", OWN)
    found = published()
    for provider in providers:
        if provider in found:
            for model, price in found[provider].models.items():
                name = model if provider == "anthropic" else f"{provider}/{model}"
                yield ListedPrice(name, price, found[provider].date, found[provider].source)
        yield ListedPrice(f"{provider}/*", None, "", "")


def _number(amount: Decimal | None) -> float | None:
    return None if amount is None else float(amount)
