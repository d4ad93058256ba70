"""`ferrule ask` on a terminal: the answer appears as the model writes it."""

import json
import os
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ferrule_dev.testing import Exchange, Server
from ferrule_testkit.model.event_streams import EVENTS, frame, in_pieces, says_in_pieces
from ferrule_testkit.model.server import MODEL_KEY, ModelServer, Reply, failure, says, tool_use
from ferrule_testkit.processes.terminal import Terminal

pytestmark = [pytest.mark.process, pytest.mark.slow]

FERRULE = Path(sys.executable).parent / "ferrule"
STREAMS = Path(__file__).parents[2] / "plugins" / "ask" / "tests" / "streams"


@pytest.fixture
def environ(tmp_path: Path, model_server: ModelServer) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "LANG": "C.UTF-8",
        "COLUMNS": "200",
        "ANTHROPIC_API_KEY": MODEL_KEY,
        "ANTHROPIC_BASE_URL": model_server.url,
        "FERRULE_STATE": str(tmp_path / "state"),
        "FERRULE_ASK_TOOLS": "none",
        "FERRULE_ASK_BUDGETS": "60 20 60",
    }


@pytest.fixture
def ask(environ: dict[str, str]) -> Iterator[Callable[..., Terminal]]:
    """Run `ferrule ask ARGUMENT…` on a terminal."""
    opened: list[Terminal] = []

    def ask(*arguments: str, **more: str) -> Terminal:
        opened.append(Terminal([FERRULE, "ask", *arguments], {**environ, **more}))
        return opened[-1]

    yield ask
    for terminal in opened:
        terminal.__exit__()


Ask = Callable[..., Terminal]


def in_steps(events: list[Any], may_go_on: threading.Event, *, after: int) -> Reply:
    """So many events; the others once they may come."""

    def send(exchange: Exchange, reply: Reply) -> None:
        exchange.answer(b"", EVENTS, headers={"Content-Length": "", "Connection": "close"})
        exchange.close_connection = True
        for number, event in enumerate(events):
            if number == after:
                may_go_on.wait()
            exchange.send(frame(event))

    return Reply(b"", manner=send)


def broken_off(*pieces: str) -> Reply:
    """An answer that ends after these pieces, without its end."""
    return in_pieces(says_in_pieces(*pieces)[: 2 + len(pieces)])


def test_the_first_words_are_there_before_the_last_ones_are_written(ask: Ask, model_server: ModelServer) -> None:
    may_go_on = threading.Event()
    model_server.script(in_steps(says_in_pieces("It is ", "95,234 dollars."), may_go_on, after=3))
    terminal = ask("What is it?")
    try:
        terminal.read_until("It is ")
        assert "dollars" not in terminal.shown
    finally:
        may_go_on.set()
    assert terminal.finish() == (0, "It is 95,234 dollars.\n")
    assert model_server.bodies[0]["stream"] is True


def test_what_was_shown_is_not_shown_again_after_an_answer_broke_off(ask: Ask, model_server: ModelServer) -> None:
    model_server.script(broken_off("It is ", "95"), in_pieces(says_in_pieces("It", " is 95,", "234 dollars.")))
    code, shown = ask("What is it?").finish()
    first, note, rest = shown.splitlines()
    assert (code, first, rest) == (0, "It is 95", ",234 dollars.")
    assert note.startswith("NETWORK_ERROR: asking again in ")


def test_an_answer_in_other_words_is_shown_whole(ask: Ask, model_server: ModelServer) -> None:
    model_server.script(broken_off("It is ", "95"), in_pieces(says_in_pieces("It is", " about 95,000.")))
    code, shown = ask("What is it?").finish()
    assert code == 0
    assert shown.startswith("It is 95\nNETWORK_ERROR: ")
    assert shown.endswith("\nThe answer begins anew, in other words:\nIt is about 95,000.\n")


def test_what_is_busy_before_it_answers_leaves_no_trace_in_the_text(ask: Ask, model_server: ModelServer) -> None:
    model_server.script(failure(529, retry_after_ms=10), in_pieces(says_in_pieces("Fine.")))
    code, shown = ask("What is it?").finish()
    assert code == 0
    assert shown.splitlines()[1:] == ["Fine."]


def test_a_call_of_a_tool_is_shown_between_two_replies(ask: Ask, model_server: ModelServer) -> None:
    events = says_in_pieces("Let me ", "look.", stop_reason="tool_use")
    block = tool_use("example", {"city": "Oslo"})
    begin = {"type": "content_block_start", "index": 1, "content_block": {**block, "input": {}}}
    delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    events[-2:-2] = [begin, {"type": "content_block_delta", "index": 1, "delta": delta}]
    model_server.script(in_pieces(events), in_pieces(says_in_pieces("It is ", "cold.")))
    code, shown = ask("How is it?", "--tool", "example").finish()
    said, call, answer = shown.splitlines()
    assert (code, said, answer) == (0, "Let me look.", "It is cold.")
    assert call.startswith('example {"city": "Oslo"} … ')
    assert not model_server.refused


def test_an_answer_that_is_cut_off_says_so_below_its_text(ask: Ask, model_server: ModelServer) -> None:
    model_server.script(in_pieces(says_in_pieces("It is", stop_reason="max_tokens")))
    code, shown = ask("What is it?").finish()
    assert code == 1
    assert shown.startswith("It is\nError: MAX_TOKENS: ")


def test_nothing_in_the_pieces_steers_the_terminal(ask: Ask, model_server: ModelServer) -> None:
    model_server.script(in_pieces(says_in_pieces("It is \x1b", "[2J95.")))
    assert ask("What is it?").finish() == (0, "It is \\u001b[2J95.\n")


@pytest.mark.parametrize("arguments", [("--json",), ("--type", '{"type": "integer"}')])
def test_what_is_judged_as_a_whole_comes_as_a_whole(
    arguments: tuple[str, ...], ask: Ask, model_server: ModelServer
) -> None:
    model_server.always(says('{"value": 95}'))
    code, shown = ask("What is it?", *arguments).finish()
    assert code == 0
    assert "95" in shown
    assert "stream" not in model_server.bodies[0]


def test_a_kept_answer_is_shown_without_asking(ask: Ask, model_server: ModelServer) -> None:
    model_server.script(in_pieces(says_in_pieces("It is ", "95.")))
    for _ in range(2):
        assert ask("What is it?", "--remember", "1d").finish() == (0, "It is 95.\n")
    assert len(model_server.requests) == 1


@pytest.mark.parametrize("name", ["gemini", "openai", "openai-chat"])
def test_models_of_other_makers_are_shown_as_they_write(name: str, ask: Ask) -> None:
    facts = json.loads((STREAMS / f"{name}.json").read_text())
    with Server() as web:
        web.page(facts["path"], in_pieces(facts["says"]).body, EVENTS)
        given = {facts["variable"]: web.url, facts["key"]: "a-key-of-the-tests-0123"}
        code, shown = ask("How much?", "--model", f"{name}/some-model", **given).finish()
    assert (code, shown) == (0, "Ninety-five.\n\n[1] Title 0\n    https://www.example.com/0\n")
