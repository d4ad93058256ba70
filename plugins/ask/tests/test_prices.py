"""What models cost: the published prices of all makers, prices of one's own, and how they are shown."""

import json
import time
from collections.abc import Callable
from decimal import Decimal
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from ferrule_ask import Client, Limits
from ferrule_ask.command import command
from ferrule_ask.cost.prices import Price, Tokens, price_of, published
from ferrule_testkit.model.memory_tools import no_tools
from ferrule_testkit.model.server import ModelServer, says

Make = Callable[..., Client]
pytestmark = pytest.mark.usefixtures("ferrule_environment")
TABLE: Any = json.loads(files("ferrule_ask.cost").joinpath("prices.json").read_text("utf-8"))


def shown(*arguments: str) -> str:
    done = CliRunner().invoke(command, ["--prices", *arguments], standalone_mode=False)
    assert done.exception is None
    return done.stdout


@pytest.mark.parametrize("provider", sorted(TABLE["providers"]))
def test_each_published_price_has_a_date_and_a_source(provider: str) -> None:
    facts = TABLE["providers"][provider]
    assert time.strptime(facts["date"], "%Y-%m")
    assert facts["source"].startswith("https://")
    for name, price in published()[provider].models.items():
        assert 0 < price.input <= price.output, name
        assert price.cached is None or price.cached <= price.input, name
        assert price.long is None or (price.input < price.long.input and price.output < price.long.output), name


def test_a_model_costs_the_same_by_both_of_its_makers_apis() -> None:
    assert price_of("gpt-5-2025-08-07", {}, "openai-chat") == price_of("gpt-5", {}, "openai") is not None
    assert price_of("gpt-5", {}, "openrouter") is None
    assert price_of("gpt-4o-2024-05-13", {}, "openai") != price_of("gpt-4o", {}, "openai")


def test_a_long_request_is_at_its_own_price_as_a_whole() -> None:
    price = price_of("gemini-2.5-pro", {}, "gemini")
    assert price is not None
    assert price.cost(200_000, 1_000_000) == Decimal("0.25") + 10
    assert price.cost(200_001, 1_000_000) == Decimal("2.5") * 200_001 / 1_000_000 + 15
    assert price.cost_of(Tokens(100_001, 0, 100_000, 0)) == (Decimal("2.5") * 100_001 + 25_000) / 1_000_000


def test_input_out_of_a_cache_costs_what_its_maker_says_else_a_tenth() -> None:
    read = Tokens(cache_reading=1_000_000)
    assert Price.of(3, 15).cost_of(read) == Decimal("0.3")
    price = price_of("gpt-4o", {}, "openai")
    assert price is not None
    assert price.cost_of(read) == Decimal("1.25")


def test_the_list_has_own_prices_first_and_says_what_is_unknown(ferrule_settings: Callable[[str], Path]) -> None:
    ferrule_settings('[ask.prices]\n"local/llama" = [0, 0]\n\n[ask.providers.local]\nbase_url = "http://h"\n')
    prices = json.loads(shown("--json"))["prices"]
    own = {"input": 0.0, "output": 0.0, "cached": None, "long": None, "date": "", "source": "[ask.prices]"}
    assert prices[0] == {"model": "local/llama", **own}
    by_model = {one["model"]: one for one in prices}
    assert by_model["claude-sonnet-5-5"]["output"] == 10
    assert by_model["openai/gpt-5"]["source"] == TABLE["providers"]["openai"]["source"]
    assert by_model["gemini/gemini-2.5-pro"]["long"]["over"] == 200_000
    for provider in ("anthropic", "gemini", "local", "ollama", "openai", "openai-chat", "openrouter"):
        assert by_model[f"{provider}/*"]["input"] is None


def test_the_list_is_a_table_for_people() -> None:
    lines = shown().splitlines()
    assert lines[0].split()[:3] == ["model", "input", "output"]
    (haiku,) = [line for line in lines if line.startswith("claude-haiku-5-5 ")]
    assert "0.5 and 2.5 over 100,000 tokens" in haiku
    assert haiku.split()[-2:] == [TABLE["providers"]["anthropic"]["date"], TABLE["providers"]["anthropic"]["source"]]
    assert any(line.startswith("ollama/*") and "unknown" in line for line in lines)


@pytest.mark.process
def test_a_budget_counts_a_price_of_ones_own(
    client: Make, ferrule_settings: Callable[[str], Path], model_server: ModelServer
) -> None:
    ferrule_settings("[ask.prices]\nmine = [1000, 2000]\n")
    model_server.always(says("Fine."))
    one = client(limits=Limits(spend=0.5), toolbox=no_tools(), model="mine")
    assert one.ask(None, "?").code == "BUDGET_EXHAUSTED"
    rich = client(limits=Limits(spend=50), toolbox=no_tools(), model="mine")
    assert rich.ask(None, "?").cost == pytest.approx((20 * 1000 + 10 * 2000) / 1e6)


@pytest.mark.parametrize("usage", [Tokens(1_000, 20, 9_000, 100), Tokens(300_000, 0, 2_000_000, 100)])
def test_half_of_a_price_is_half_of_what_all_tokens_cost(usage: Tokens) -> None:
    for model in [one for table in published().values() for one in table.models.values()]:
        assert model.half().cost_of(usage) * 2 == model.cost_of(usage)
        assert model.half().cost(usage.input, usage.output) * 2 == model.cost(usage.input, usage.output)
