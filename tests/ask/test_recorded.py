"""Conversations with the real Messages API, as the official SDK recorded them, answered to our own requests."""

import os
from collections.abc import Callable
from typing import Any

import pytest

from ferrule_ask import Answer, Client
from ferrule_testkit.model.memory_tools import MemoryTools
from ferrule_testkit.model.recorded_exchanges import Exchange, Tape, tapes
from ferrule_testkit.model.server import ModelServer

TOOL = "get_weather"
LEAST_TAPES, LEAST_EXCHANGES = 10, 15  # the SDK has at least so many that are no streams
Make = Callable[..., Client]
Replay = Callable[[Tape], tuple[Answer, list[Any], MemoryTools]]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.usefixtures("ask_environment"),
    pytest.mark.index,
    pytest.mark.timeout(300),
]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> list[Tape]:
    """The conversations without streams; `ferrule_ask` asks for none."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base
    return [tape for tape in tapes(shared) if not tape.is_streamed]


@pytest.fixture
def replay(client: Make, model_server: ModelServer) -> Replay:
    """Ask a recorded question of a server that gives the recorded answers: the answer, our requests, our tool."""

    def replay(tape: Tape) -> tuple[Answer, list[Any], MemoryTools]:
        tool = MemoryTools(TOOL, content='{"temperature": "20°C"}')
        model_server.script(*(exchange.reply for exchange in tape.exchanges))
        before = len(model_server.requests)
        answer = client(toolbox=tool).ask(None, str(tape.exchanges[0].request["messages"][0]["content"]))
        return answer, model_server.bodies[before:], tool

    return replay


def text_of(exchange: Exchange) -> str:
    return "".join(block["text"] for block in exchange.content if block["type"] == "text")


def ids(content: list[dict[str, Any]], kind: str, name: str) -> list[str]:
    return [block[name] for block in content if block["type"] == kind]


def calls_ours(tape: Tape) -> bool:
    """Whether the model, in the first place, calls a tool that the client has to execute."""
    return tape.exchanges[0].status == 200 and bool(ids(tape.exchanges[0].content, "tool_use", "id"))


def test_the_recordings_are_there(recorded: list[Tape]) -> None:
    assert len(recorded) >= LEAST_TAPES
    assert sum(len(tape.exchanges) for tape in recorded) >= LEAST_EXCHANGES
    assert any(calls_ours(tape) for tape in recorded)


def test_a_recorded_tool_call_is_answered_as_the_sdk_answered_it(
    recorded: list[Tape], replay: Replay, model_server: ModelServer
) -> None:
    for tape in filter(calls_ours, recorded):
        first, second = tape.exchanges[:2]
        _, sent, tool = replay(tape)
        assert len(sent) == 2, tape.name
        assert (sent[1]["tools"], sent[1]["tool_choice"]) == (sent[0]["tools"], {"type": "none"})
        _, echoed, results = sent[1]["messages"]
        assert echoed == {"role": "assistant", "content": first.content}, tape.name
        given = ids(results["content"], "tool_result", "tool_use_id")
        assert given == ids(first.content, "tool_use", "id"), tape.name
        assert given == ids(second.request["messages"][2]["content"], "tool_result", "tool_use_id"), tape.name
        assert tool.executed[0] == (TOOL, next(one["input"] for one in first.content if one["type"] == "tool_use"))
        assert len(tool.executed) == 1
    assert not model_server.refused


def test_the_text_and_tokens_of_a_recorded_conversation_arrive(recorded: list[Tape], replay: Replay) -> None:
    for tape in filter(calls_ours, recorded):
        answer, _, _ = replay(tape)
        usages = [exchange.body["usage"] for exchange in tape.exchanges[:2]]
        last = tape.exchanges[1]
        is_whole = last.body["stop_reason"] != "tool_use"  # some of these conversations went on with another call
        assert (answer.text or "") == (text_of(last) if is_whole else ""), tape.name
        assert answer.code == (None if answer.text else "EMPTY_ANSWER"), tape.name
        assert answer.output_tokens == sum(usage["output_tokens"] for usage in usages), tape.name
        assert answer.model == tape.exchanges[1].body["model"]


def test_recorded_answers_without_a_call_of_ours_arrive_after_one_request_that_succeeds(
    recorded: list[Tape], replay: Replay, model_server: ModelServer
) -> None:
    for tape in recorded:
        if not calls_ours(tape):
            answer, sent, tool = replay(tape)
            assert (answer.code, answer.text) == (None, text_of(tape.exchanges[-1])), tape.name
            assert len(sent) == len(tape.exchanges), tape.name
            assert not tool.executed
    assert not model_server.refused


def test_recorded_rate_limits_are_overcome(recorded: list[Tape], replay: Replay) -> None:
    limited = [tape for tape in recorded if tape.exchanges[0].status == 429]
    assert limited
    for tape in limited:
        answer, sent, _ = replay(tape)
        assert (answer.code, len(sent)) == (None, len(tape.exchanges)), tape.name
