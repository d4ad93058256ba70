"""One question: what is asked, what a tool is for in it, and how its end is told."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ferrule_ask import Answer, Client
from ferrule_testkit.effort import examples
from ferrule_testkit.model.memory_tools import SEARCH, MemoryTools, no_tools
from ferrule_testkit.model.message_blocks import blocks
from ferrule_testkit.model.server import (
    ModelRequest,
    ModelServer,
    Reply,
    calls,
    failure,
    message,
    reset,
    says,
    tool_use,
)

Make = Callable[..., Client]
pytestmark = [pytest.mark.process, pytest.mark.usefixtures("ask_environment")]


def asked(client: Make, **arguments: Any) -> Answer:
    return client(**arguments).ask("Bitcoin", "How much?")


def test_an_answer_without_a_tool_takes_one_request(client: Make, model_server: ModelServer) -> None:
    model_server.script(says("Much.", input_tokens=50, output_tokens=7))
    answer = asked(client)
    assert answer == Answer(
        "Much.",
        stop_reason="end_turn",
        model="claude-sonnet-5-5",
        input_tokens=50,
        output_tokens=7,
        cost=(50 * 2 + 7 * 10) / 1e6,
        ms=answer.ms,
        request_id=answer.request_id,
    )
    assert answer.ms > 0
    assert answer.request_id
    assert model_server.requests[0].question == "Context: Bitcoin\n\nQuestion: How much?"


def test_a_tool_is_executed_and_its_result_answered_with(client: Make, model_server: ModelServer) -> None:
    tools = MemoryTools(content="95 dollars")
    model_server.script(calls(SEARCH, {"query": "BTC"}, text="Let me look."), says("It is 95."))
    answer = asked(client, toolbox=tools)
    assert (answer.text, answer.code, answer.tool, answer.tool_input) == ("It is 95.", None, SEARCH, {"query": "BTC"})
    assert (answer.input_tokens, answer.output_tokens) == (40, 20)
    assert tools.executed == [(SEARCH, {"query": "BTC"})]
    assert model_server.refused == []
    assert model_server.bodies[1]["messages"][2]["content"][0]["content"] == "95 dollars"


def test_of_several_calls_one_is_executed_and_all_are_answered(client: Make, model_server: ModelServer) -> None:
    tools = MemoryTools()
    first = message(*(tool_use(SEARCH, {"query": word}) for word in "ab"), stop_reason="tool_use")
    model_server.script(first, says("Fine."))
    assert asked(client, toolbox=tools).text == "Fine."
    assert tools.executed == [(SEARCH, {"query": "a"})]
    results = model_server.bodies[1]["messages"][2]["content"]
    assert [("is_error" in one, "limit reached" in one["content"]) for one in results] == [(False, False), (True, True)]
    assert model_server.refused == []


@pytest.mark.parametrize(
    ("block", "words"),
    [
        (tool_use("web_search", {"query": "a"}), "There is no tool 'web_search', only: web_search_brave."),
        ({**tool_use(SEARCH, {}), "input": "BTC"}, "has to be a JSON object"),
    ],
)
def test_what_cannot_be_executed_is_said_to_the_model(
    block: dict[str, Any],
    words: str,
    client: Make,
    model_server: ModelServer,
) -> None:
    tools = MemoryTools()
    second: list[Any] = []

    def reply(request: ModelRequest) -> Reply:
        second.extend(request.body["messages"][2:])
        return says("From memory.") if request.is_second else message(block, stop_reason="tool_use")

    model_server.script(reply)
    answer = asked(client, toolbox=tools)
    assert tools.executed == []
    if not model_server.refused:  # which takes no input that is not an object
        assert answer.text == "From memory."
        assert words in second[0]["content"][0]["content"]
        assert second[0]["content"][0]["is_error"] is True
    assert len(model_server.requests) == 2


@pytest.mark.parametrize(
    ("tools", "words", "code"),
    [
        (MemoryTools(content="No.", is_error=True, code="AUTH_INVALID", error="No."), "No.", "AUTH_INVALID"),
        (MemoryTools(raises=OSError("/secret/path")), "web_search_brave failed.", None),
        (MemoryTools(seconds=60), "did not answer within 0.1 seconds", "TIMEOUT"),
    ],
)
def test_a_tool_that_fails_is_said_to_the_model(
    tools: MemoryTools,
    words: str,
    code: str | None,
    client: Make,
    model_server: ModelServer,
) -> None:
    model_server.script(calls(SEARCH, {"query": "a"}), says("From memory."))
    answer = asked(client, toolbox=tools, budgets=(30, 0.1, 30))
    assert (answer.text, answer.code, answer.tool) == ("From memory.", None, SEARCH)
    assert (answer.tool_outcome, answer.tool_code, answer.is_good) == ("failed", code, False)
    assert words in str(answer.tool_error)
    result = model_server.bodies[1]["messages"][2]["content"][0]
    assert words in result["content"]
    assert result["is_error"] is True
    assert tools.cancelled == (1 if "within" in words else 0)


@pytest.mark.parametrize("choice", ["null", "raise"])
def test_without_its_tool_there_may_be_no_answer_and_no_second_request(
    choice: str, client: Make, model_server: ModelServer
) -> None:
    model_server.script(calls(SEARCH, {"query": "a"}, text="Let me look that up."), says("From memory."))
    tools = MemoryTools(content="No.", is_error=True, code="AUTH_INVALID", error="The key is refused.")
    one = client(toolbox=tools, on_tool_error=choice)
    answer = one.ask(None, "How much?")
    assert (answer.text, answer.code, answer.tool_code) == (None, "TOOL_FAILED", "AUTH_INVALID")
    assert "The key is refused." in str(answer.error)
    assert len(model_server.requests) == 1
    assert (one.usage.tool_calls, one.usage.tool_failures, one.usage.failures) == (1, 1, 1)


def test_a_result_without_end_is_cut_between_two_characters(client: Make, model_server: ModelServer) -> None:
    model_server.script(calls(SEARCH, {"query": "a"}), says("Fine."))
    assert asked(client, toolbox=MemoryTools(content="😀" * 10_000)).text == "Fine."
    content = model_server.bodies[1]["messages"][2]["content"][0]["content"]
    assert len(content.encode()) <= 24_000
    assert content.strip("😀") == "… [cut]"


def test_what_the_model_says_before_a_call_that_it_cannot_have_is_no_answer(
    client: Make, model_server: ModelServer
) -> None:
    model_server.always(calls(SEARCH, {"query": "a"}, text="Let me look that up."))
    tools = MemoryTools()
    for answer in (asked(client, toolbox=no_tools()), asked(client, toolbox=tools)):
        assert (answer.text, answer.code) == (None, "EMPTY_ANSWER")
    assert "tools" not in model_server.bodies[0]
    assert len(tools.executed) == 1


@pytest.mark.parametrize("failed", [failure(400), reset(), message(stop_reason="refusal", stop_details=None)])
def test_a_question_that_ends_between_its_requests_has_no_answer(
    failed: Reply, client: Make, model_server: ModelServer
) -> None:
    first = calls(SEARCH, {"query": "a"}, text="Let me look that up.")
    model_server.script(lambda request: failed if request.is_second else first)
    answer = asked(client)
    assert answer.text is None
    assert answer.code
    assert answer.tool_outcome == "ok"


STOPS = [
    (says("Half", stop_reason="max_tokens"), "MAX_TOKENS", "Half", "raise max_tokens"),
    (message(stop_reason="max_tokens"), "MAX_TOKENS", None, "had not written any text"),
    (says("Half", stop_reason="model_context_window_exceeded"), "CONTEXT_WINDOW", "Half", "Shorten"),
    (says("I", stop_reason="refusal", stop_details=None), "REFUSAL", None, "declined"),
    (
        message(stop_reason="refusal", stop_details={"type": "refusal", "category": "bio", "explanation": None}),
        "REFUSAL",
        None,
        "(bio)",
    ),
    (message(), "EMPTY_ANSWER", None, "without any text"),
    (says(" \n"), "EMPTY_ANSWER", None, "without any text"),
    (says("Yes.", stop_reason="stop_sequence"), None, "Yes.", None),
    (says("Yes.", stop_reason="pause_turn"), None, "Yes.", None),
    (says("Yes.", stop_reason="something_new"), None, "Yes.", None),
    (message({"type": "text", "text": "Yes."}, stop_reason=None), None, "Yes.", None),
]


@pytest.mark.parametrize(("reply", "code", "text", "words"), STOPS)
@pytest.mark.parametrize("is_second", [False, True])
def test_each_way_of_stopping_is_told_apart(
    is_second: bool,
    reply: Reply,
    code: str | None,
    text: str | None,
    words: str | None,
    client: Make,
    model_server: ModelServer,
) -> None:
    model_server.script(*([calls(SEARCH, {"query": "a"}, text="Hm.")] if is_second else []), reply)
    answer = asked(client)
    assert (answer.code, answer.text) == (code, text)
    assert (words or "") in (answer.error or "")
    assert (answer.error is None) == (code is None)
    assert answer.stop_reason == json.loads(reply.body)["stop_reason"]


def test_a_call_that_was_cut_short_is_not_executed(client: Make, model_server: ModelServer) -> None:
    tools = MemoryTools()
    model_server.script(message(tool_use(SEARCH, {}), stop_reason="max_tokens"))
    assert asked(client, toolbox=tools).code == "MAX_TOKENS"
    assert tools.executed == []


def test_what_fails_after_the_tool_still_says_what_was_used(client: Make, model_server: ModelServer) -> None:
    model_server.script(calls(SEARCH, {"query": "a"}, text="Hm."), failure(401))
    answer = asked(client)
    assert (answer.text, answer.code, answer.tool) == (None, "AUTH_INVALID", SEARCH)
    assert (answer.input_tokens, answer.cost) == (20, (20 * 2 + 10 * 10) / 1e6)
    assert answer.request_id == "req_" + "1".zfill(24)


def test_an_answer_without_usage_has_no_cost(client: Make, model_server: ModelServer) -> None:
    document = json.loads(says("Fine.").body)
    del document["usage"]
    model_server.script(Reply(json.dumps(document).encode()))
    one = client()
    assert one.ask(None, "?").cost is None
    assert (one.usage.cost, one.usage.unpriced) == (0.0, 1)


@pytest.mark.parametrize("prompt", ["", " \n"])
def test_an_empty_prompt_is_not_sent(prompt: str, client: Make, model_server: ModelServer) -> None:
    assert client().ask("Bitcoin", prompt).code == "INVALID_REQUEST"
    assert model_server.requests == []


def test_an_answer_is_json(client: Make, model_server: ModelServer) -> None:
    model_server.script(calls(SEARCH, {"query": "a"}), says("Fine."))
    answer = asked(client)
    assert json.loads(json.dumps(answer.as_dict())) == answer.as_dict()
    assert list(answer.as_dict()) == list(Answer._fields)


@given(content=st.lists(blocks, max_size=5))
@settings(
    max_examples=examples(60),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_whatever_the_model_says_there_are_at_most_two_requests_and_one_execution(
    content: list[Any],
    client: Make,
    model_server: ModelServer,
) -> None:
    tools = MemoryTools()
    model_server.requests.clear()
    first = message(*content, stop_reason="tool_use")
    model_server.script(lambda request: says("Fine.") if request.is_second else first)
    one = client(toolbox=tools)
    answer = one.ask(None, "How much?")
    one.close()
    uses = [block for block in content if block["type"] == "tool_use"]
    assert len(model_server.requests) == (2 if uses else 1)
    assert len(tools.executed) <= 1
    assert {name for name, _ in tools.executed} <= {SEARCH}
    assert isinstance(answer, Answer)
    if uses:
        echoed, results = model_server.bodies[1]["messages"][1:]
        assert json.dumps(echoed["content"]) == json.dumps(content)
        assert sorted(one["tool_use_id"] for one in results["content"]) == sorted({use["id"] for use in uses})
