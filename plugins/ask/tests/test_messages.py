"""Anthropic: the requests of a question, and what a response says."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferrule_ask.cost.prices import Tokens
from ferrule_ask.models import json_text
from ferrule_ask.models.anthropic import ANTHROPIC
from ferrule_ask.models.dialogue import (
    Dialogue,
    Exchange,
    MessageUnreadable,
    Reply,
    Response,
    ToolUse,
    make_results,
    user_text,
)
from ferrule_ask.settings import Budgets, Settings
from ferrule_ask.tools.protocols import ResultText
from ferrule_testkit.model.memory_tools import SEARCH, MemoryTools
from ferrule_testkit.model.message_blocks import blocks

SETTINGS = Settings("claude-x", 1000, "http://127.0.0.1", "2026-10-21", Budgets(), {})
TOOLS = MemoryTools().offered


def a_message(*content: Any, **more: Any) -> bytes:
    usage = {"input_tokens": 3, "output_tokens": 2}
    return json.dumps({"content": content, "stop_reason": "end_turn", "usage": usage, **more}).encode()


def read(body: bytes) -> Reply:
    return ANTHROPIC.read(Response(200, {}, body))


def first_request(offers: Any) -> Any:
    return ANTHROPIC.request(Dialogue("How much?", "", offers), SETTINGS)


def second_request(reply: Reply) -> Any:
    results = make_results(reply, {reply.tool_uses[0].id: ResultText("95", is_error=False)})
    exchanges = (Exchange(reply, results),)
    return ANTHROPIC.request(Dialogue("?", "", TOOLS, exchanges, may_call=False), SETTINGS)


def text_of(*content: Any) -> str:
    return read(a_message(*content)).text


@pytest.mark.parametrize(
    ("context", "text"),
    [("Bitcoin", "Context: Bitcoin\n\nQuestion: How much?"), ("", "How much?"), (None, "How much?")],
)
def test_the_question_stands_after_its_context(context: str | None, text: str) -> None:
    assert user_text(context, "How much?") == text


def test_the_first_request_has_what_is_needed_and_nothing_that_samples() -> None:
    request = first_request(TOOLS)
    assert set(request) == {"model", "max_tokens", "messages", "tools", "tool_choice"}
    assert request["tools"][0]["name"] == SEARCH
    assert request["tool_choice"] == {"type": "auto", "disable_parallel_tool_use": True}


def test_without_tools_no_tool_is_spoken_of() -> None:
    assert set(first_request(())) == {"model", "max_tokens", "messages"}


def test_the_second_request_has_the_same_tools_and_forbids_them() -> None:
    first = first_request(TOOLS)
    reply = read(a_message({"type": "tool_use", "id": "a", "name": SEARCH, "input": {}}))
    second = second_request(reply)
    assert second["tools"] == first["tools"]
    assert second["tool_choice"] == {"type": "none"}
    assert second["messages"][2]["content"] == [{"type": "tool_result", "tool_use_id": "a", "content": "95"}]


@pytest.mark.parametrize(
    ("body", "what"),
    [
        (b"<h1>Bad gateway</h1>", "not JSON"),
        (b"[1]", "no object"),
        (b"{}", "content"),
        (b'{"content": "text"}', "content"),
        (b"\xff{}", "UTF-8"),
        (b'{"content": [NaN]}', "not JSON"),
        (b'{"content": [1e999]}', "not JSON"),
        (b"[" * 100_000, "nested"),
        (a_message({"type": "tool_use", "name": "x", "input": {}}), "without an id"),
        (a_message({"type": "tool_use", "id": "x", "input": {}}), "without an id or a name"),
    ],
)
def test_what_is_no_message_is_said_to_be_none(body: bytes, what: str) -> None:
    with pytest.raises(MessageUnreadable, match=what):
        read(body)


@pytest.mark.parametrize(
    "text", ['say "hi"', "C:\\", "```python\n[x for x in y]\n```", "\\u00e9 \\n", "é😀\u0000\r\n", "}]}", ""]
)
def test_text_arrives_as_it_was_written(text: str) -> None:
    assert text_of({"type": "text", "text": text}) == text


def test_texts_are_joined_and_other_blocks_passed_over() -> None:
    blocks = [{"type": "thinking", "thinking": "no"}, {"type": "text", "text": "a"}, 5, None, {"type": "text"}]
    assert text_of(*blocks, {"type": "text", "text": "b"}) == "ab"


def test_half_a_character_is_replaced_in_the_text_and_sent_back_as_it_came() -> None:
    reply = read(b'{"content": [{"type": "text", "text": "\\ud83d"}]}')
    assert reply.text == "?"
    assert json.loads(json_text.encode({"content": reply.content}))["content"][0]["text"] == "\ud83d"


def test_half_a_character_in_a_call_is_replaced_for_the_tool_and_sent_back_as_it_came() -> None:
    call = {"type": "tool_use", "id": "a", "name": SEARCH, "input": {"query": ["\ud83d BTC", 1.5]}}
    reply = read(a_message(call))
    assert reply.tool_uses == (ToolUse("a", SEARCH, {"query": ["? BTC", 1.5]}),)
    assert reply.content == [call]


@pytest.mark.parametrize(
    "usage",
    [
        *(None, {}, {"input_tokens": "3"}, {"input_tokens": 3}, []),
        *({"input_tokens": number, "output_tokens": 1} for number in (True, -1, 1.5, 10**30)),
    ],
)
def test_a_usage_that_is_not_whole_or_no_number_of_tokens_is_none(usage: Any) -> None:
    assert read(a_message(usage=usage)).usage is None


def test_what_came_out_of_a_cache_counts_as_input() -> None:
    facts = {"input_tokens": 1, "cache_creation_input_tokens": 10, "cache_read_input_tokens": None, "output_tokens": 5}
    usage = read(a_message(usage=facts)).usage
    assert usage == Tokens(1, 10, 0, 5)
    assert usage.all_input == 11


@pytest.mark.process
@given(st.lists(blocks, max_size=6))
def test_every_tool_use_gets_one_result_and_the_content_comes_back_as_it_was(content: list[Any]) -> None:
    body = a_message(*content, stop_reason="tool_use")
    reply = read(body)
    if not reply.tool_uses:
        return
    sent = json.loads(json_text.encode(second_request(reply)))
    asked, echoed, results = sent["messages"]
    assert asked == {"role": "user", "content": "?"}
    assert json.dumps(echoed["content"]) == json.dumps(json.loads(body)["content"])
    ids = [block["tool_use_id"] for block in results["content"]]
    assert sorted(ids) == sorted({block["id"] for block in content if block["type"] == "tool_use"})
    assert [block["content"] for block in results["content"]].count("95") == 1
