"""Answers of a type, what the model is told beside the question, and plans of what is likely."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ferrule_ask import Client
from ferrule_ask.tools.excerpts import cut_to_tokens
from ferrule_ask.typed_answers import ValueUnfit, output_format, value_in
from ferrule_testkit.model.memory_tools import SEARCH, MemoryTools, no_tools
from ferrule_testkit.model.server import ModelServer, calls, message, says

pytestmark = [pytest.mark.process, pytest.mark.usefixtures("ask_environment")]
PRICE = {"type": "object", "properties": {"price": {"type": "number", "minimum": 0}}, "required": ["price"]}
Make = Callable[..., Client]


@pytest.mark.parametrize("tool", [None, SEARCH])
def test_an_answer_with_a_schema_has_a_value(client: Make, model_server: ModelServer, tool: str | None) -> None:
    answer = says('{"price": 1.5}')
    model_server.script(*[calls(SEARCH, {"query": "BTC"})] * bool(tool), answer)
    found = client(toolbox=MemoryTools() if tool else no_tools()).ask("a", "p", schema=PRICE)
    assert (found.value, found.text, found.code) == ({"price": 1.5}, '{"price": 1.5}', None)
    formats = [body["output_config"]["format"] for body in model_server.bodies]
    assert [one["type"] for one in formats] == ["json_schema"] * (2 if tool else 1)
    assert formats[-1]["schema"]["additionalProperties"] is False
    assert not model_server.refused


@pytest.mark.parametrize("text", ['{"price": -1}', '{"price": "x"}', "{}", "It costs 1.5.", "null"])
def test_an_answer_that_does_not_fit_is_none(client: Make, model_server: ModelServer, text: str) -> None:
    model_server.script(says(text))
    found = client(toolbox=no_tools()).ask("a", "p", schema=PRICE)
    assert (found.text, found.value, found.code, found.is_good) == (None, None, "VALUE_UNFIT", False)
    assert "Ask again" in (found.error or "")


@pytest.mark.parametrize(("stop_reason", "code"), [("max_tokens", "MAX_TOKENS"), ("refusal", "REFUSAL")])
def test_what_is_cut_or_refused_has_no_value(
    client: Make, model_server: ModelServer, stop_reason: str, code: str
) -> None:
    model_server.script(says('{"price": 1', stop_reason=stop_reason))
    found = client(toolbox=no_tools()).ask("a", "p", schema=PRICE)
    assert (found.value, found.code) == (None, code)


def test_what_is_no_object_travels_in_one() -> None:
    sent = output_format({"type": "integer"})["format"]["schema"]
    assert sent["properties"] == {"value": {"type": "integer"}}
    assert value_in('{"value": 3}', {"type": "integer"}) == 3
    with pytest.raises(ValueUnfit, match="no `value`"):
        value_in("3", {"type": "integer"})


def test_a_schema_that_is_none_is_refused_at_once(client: Make, model_server: ModelServer) -> None:
    with pytest.raises(Exception, match="schema has to be a JSON schema"):
        client(toolbox=no_tools()).ask("a", "p", schema={"type": "objct"})
    assert not model_server.requests


def test_the_model_is_told_today_s_date_and_the_system_text(client: Make, model_server: ModelServer) -> None:
    model_server.script(calls(SEARCH, {"query": "BTC"}), says("Oui."))
    before = time.strftime("%Y-%m-%d")
    client(toolbox=MemoryTools(), system="Answer in French.").ask("a", "p")
    days = {before, time.strftime("%Y-%m-%d")}
    assert {body["system"] for body in model_server.bodies} <= {f"Answer in French.\n\nToday is {day}." for day in days}


def test_an_answer_is_kept_across_days_but_not_across_system_texts(
    client: Make, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    model_server.always(says("Yes."))
    for day in ("2026-11-23", "2026-11-24"):
        monkeypatch.setattr("ferrule_ask.conversation._today", lambda day=day: day)
        assert client(toolbox=no_tools(), remember="30d").ask("a", "p").remembered == (day[-1] == "4")
    assert not client(toolbox=no_tools(), remember="30d", system="Short.").ask("a", "p").remembered


@pytest.mark.parametrize("tokens", [10, 1_500])
def test_the_result_of_another_tool_is_cut_by_tokens(client: Make, model_server: ModelServer, tokens: int) -> None:
    model_server.script(calls("weather", {"query": "Oslo"}), says("Yes."))
    client(toolbox=MemoryTools("weather", content="ö" * 9_000), tool_tokens=tokens).ask("a", "p")
    (result,) = model_server.bodies[1]["messages"][2]["content"]
    assert result["content"] == "ö" * tokens + f"… [cut: the first {tokens:,} of 9,000 characters]"


def test_four_letters_of_ascii_are_a_token() -> None:
    assert cut_to_tokens("abcdefgh", 2) == "abcdefgh"
    assert cut_to_tokens("abcdefghi", 2).startswith("abcdefgh… [cut")
    assert cut_to_tokens("日本語", 2).startswith("日本… [cut")


# ---- plans


def test_a_plan_learns_from_the_questions_so_far(client: Make, model_server: ModelServer) -> None:
    model_server.always(says("Yes.", input_tokens=50, output_tokens=7))
    one = client(toolbox=no_tools())
    assert one.plan("a", "p").likely_from == "assumption"
    for number in range(5):
        one.ask(str(number), "p")
    plan = one.plan("9", "p")
    assert plan.likely_from == "own questions"
    assert plan.cost_likely == pytest.approx((50 * 2 + 7 * 10) / 1e6)


def test_the_sum_of_what_is_known_stays(client: Make, model_server: ModelServer) -> None:
    model_server.script(lambda request: message({"type": "text", "text": "Yes."}, model=request.body["model"]))
    one = client(toolbox=no_tools())
    assert one.ask("a", "p").cost == pytest.approx(0.00014)
    assert one.ask("a", "p", model="local").cost is None
    assert one.usage.cost == pytest.approx(0.00014)
    assert one.usage.unpriced == 1


def test_the_price_of_a_search_is_in_the_plan_where_the_settings_have_it(
    client: Make, ferrule_settings: Callable[[str], Path], model_server: ModelServer
) -> None:
    assert client(toolbox=MemoryTools()).plan("a", "p")[-2:] == (1, None)
    ferrule_settings(f"[ask.search_prices]\n{SEARCH} = 5\n")
    assert client(toolbox=MemoryTools()).plan("a", "p")[-2:] == (1, 0.005)


def test_the_published_prices_are_one_file_with_a_date() -> None:
    from importlib.resources import files

    document: Any = json.loads(files("ferrule_ask.cost").joinpath("prices.json").read_text("utf-8"))
    for facts in document["providers"].values():
        assert time.strptime(facts["date"], "%Y-%m")
        assert facts["source"].startswith("https://")
        assert all(len(numbers) == 2 for numbers in facts["models"].values())
