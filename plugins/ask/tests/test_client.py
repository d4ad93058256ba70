"""Threads, loops and processes: whoever asks from wherever, nothing hangs and nothing goes on unasked."""

import asyncio
import gc
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError
from typing import Any

import pytest

from ferrule.errors import ConfigurationMalformed, ToolUnknown
from ferrule_ask import Client, Plan, ask
from ferrule_testkit.model.memory_tools import SEARCH, MemoryTools, no_tools
from ferrule_testkit.model.server import ModelServer, after, calls, says, silent

Make = Callable[..., Client]
pytestmark = [pytest.mark.process, pytest.mark.usefixtures("ask_environment")]
SOON = 20  # seconds, and far less than any budget of a client


def until(condition: Callable[[], Any]) -> None:
    end = time.monotonic() + SOON
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def gone(server: ModelServer) -> bool:
    """Whether the client has closed all connections: nothing is being answered any more."""
    return all(request.ended for request in server.requests)


def test_one_name_is_not_taken_for_the_names_of_its_letters() -> None:
    with pytest.raises(TypeError, match="sequence of names"):
        Client(tools="web_search_brave")
    with pytest.raises(TypeError, match="sequence of names"):
        ask(None, "?", tools="web_search_brave")


def test_it_is_asked_where_a_loop_runs_already(client: Make, model_server: ModelServer) -> None:
    model_server.always(says("Fine."))
    one = client(toolbox=no_tools())

    async def notebook() -> list[str | None]:
        return [one.ask(None, "?").text, (await one.ask_async(None, "?")).text]

    assert asyncio.run(notebook()) == ["Fine.", "Fine."]
    assert asyncio.run(notebook()) == ["Fine.", "Fine."]


def test_questions_run_at_once_as_far_as_they_may(client: Make, model_server: ModelServer) -> None:
    model_server.always(after(0.1, says("Fine.")))
    one = client(toolbox=no_tools(), concurrency=4, budgets=(5, 1, 1))
    assert [future.result().text for future in [one.start(None, "?") for _ in range(12)]] == ["Fine."] * 12
    assert model_server.peak == 4


@pytest.mark.slow
def test_a_budget_begins_with_the_turn(client: Make, model_server: ModelServer) -> None:
    model_server.always(after(0.25, says("Fine.")))
    one = client(toolbox=no_tools(), concurrency=1, budgets=(1, 1, 1))
    answers = [future.result() for future in [one.start(None, "?") for _ in range(6)]]
    assert [answer.code for answer in answers] == [None] * 6
    assert max(answer.ms for answer in answers) < 1000


def test_a_cancelled_future_ends_the_request(client: Make, model_server: ModelServer) -> None:
    model_server.always(after(60, says("never")))
    one = client(toolbox=no_tools(), concurrency=1)
    first, second = one.start(None, "?"), one.start(None, "?")
    until(lambda: model_server.requests)
    assert second.cancel()
    assert first.cancel()
    model_server.always(says("Fine."))
    assert one.ask(None, "?").text == "Fine."  # its turn has come, so the first gave up its own
    with pytest.raises(CancelledError):
        first.result()
    assert len(model_server.requests) == 2
    assert one.usage.failures == 1


def test_a_cancelled_coroutine_ends_the_tool(client: Make, model_server: ModelServer) -> None:
    tools = MemoryTools(seconds=60)
    model_server.always(calls(SEARCH, {"query": "a"}))
    one = client(toolbox=tools)

    async def impatient() -> None:
        task = asyncio.ensure_future(one.ask_async(None, "?"))
        while not tools.executed:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(impatient())
    until(lambda: tools.cancelled == 1)


def test_closing_answers_what_waits(client: Make, model_server: ModelServer) -> None:
    model_server.always(after(60, says("never")))
    one = client(toolbox=no_tools(), concurrency=1)
    futures = [one.start(None, "?") for _ in range(3)]
    until(lambda: model_server.requests)
    one.close()
    assert [future.result(SOON).code for future in futures] == ["CANCELLED"] * 3
    assert len(model_server.requests) == 1
    model_server.always(says("Fine."))
    assert one.ask(None, "?").text == "Fine."


def test_a_client_that_nobody_has_any_more_ends_its_thread(model_server: ModelServer) -> None:
    model_server.always(says("Fine."))
    before = set(threading.enumerate())  # among them maybe the thread of another test's client
    one = Client(toolbox=no_tools())
    future = one.start(None, "?")
    (own,) = (thread for thread in threading.enumerate() if thread.name == "ferrule_ask" and thread not in before)
    del one
    gc.collect()
    assert future.result(SOON).text == "Fine."
    until(lambda: not own.is_alive())


def test_what_happens_is_told_while_it_happens(client: Make, model_server: ModelServer) -> None:
    model_server.script(calls(SEARCH, {"query": "a"}), says("Fine."))
    events: list[tuple[str, Mapping[str, Any]]] = []

    def listen(kind: str, facts: Mapping[str, Any]) -> None:
        events.append((kind, facts))
        raise OSError("the terminal is gone")

    assert client(event=listen).ask(None, "?").text == "Fine."
    (first, call), (second, result) = events
    assert (first, call) == ("tool_call", {"tool": SEARCH, "input": {"query": "a"}})
    assert (second, result["tool"], result["is_error"]) == ("tool_result", SEARCH, False)
    assert result["seconds"] >= 0


def test_an_event_that_would_wait_for_itself_is_told_so(client: Make, model_server: ModelServer) -> None:
    model_server.script(calls(SEARCH, {"query": "a"}), says("Fine."))
    told: list[str] = []

    def listen(kind: str, facts: Mapping[str, Any]) -> None:
        for wait in (lambda: one.ask(None, "?"), lambda: one.plan(None, "?"), one.close):
            try:
                wait()
            except RuntimeError as error:
                told.append(str(error))

    one = client(event=listen)
    assert one.ask(None, "?").text == "Fine."
    assert len(told) == 6


def test_a_plan_sends_nothing_and_bounds_the_question(client: Make, model_server: ModelServer) -> None:
    one = client()
    plan = one.plan("Bitcoin", "How much?", max_tokens=500)
    assert (plan.requests_max, plan.output_tokens_max, plan.tools, plan.searches_max) == (2, 1000, (SEARCH,), 1)
    assert plan.likely_from == "assumption"
    assert (plan.cost_min or 0) < (plan.cost_likely or 0) < (plan.cost_max or 0)
    assert model_server.requests == []
    model_server.script(calls(SEARCH, {"query": "a"}, output_tokens=500), says("Fine.", output_tokens=500))
    answer = one.ask("Bitcoin", "How much?", max_tokens=500)
    assert plan.cost_min is not None
    assert plan.cost_max is not None
    assert answer.cost is not None
    assert plan.cost_min < answer.cost < plan.cost_max
    alone = client(toolbox=no_tools()).plan(None, "?", model="unheard-of")
    assert alone == Plan(1, alone.input_tokens, 1000, None, None, (), None, "assumption", 0, 0.0)


def test_a_tool_that_is_not_installed_is_an_error_at_once() -> None:
    with pytest.raises(ToolUnknown, match="no_such_tool"):
        Client(tools=["no_such_tool"])


def test_a_setting_that_is_wrong_is_raised(client: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    one = client()
    monkeypatch.setenv("FERRULE_ASK_MAX_TOKENS", "many")
    with pytest.raises(ConfigurationMalformed, match="FERRULE_ASK_MAX_TOKENS"):
        one.ask(None, "?")
    with pytest.raises(ValueError, match="concurrency"):
        Client(concurrency=0)


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")  # which later Pythons give
def test_a_client_works_on_in_a_fork(client: Make, model_server: ModelServer) -> None:
    model_server.always(says("Fine."))
    one = client(toolbox=no_tools())
    assert one.ask(None, "?").text == "Fine."
    pid = os.fork()
    if pid == 0:
        signal.alarm(SOON)
        os._exit(0 if one.ask(None, "?").text == "Fine." else 1)
    assert os.waitpid(pid, 0)[1] == 0
    assert one.ask(None, "?").text == "Fine."


# ---- processes of their own

_ASKS = """
import socket, sys, threading
{before}
from ferrule_ask import Client
client = Client(tools=())
client.start(None, "?") if sys.argv[1] == "start" else print(client.ask(None, "?").code)
{after}
"""
_NO_NAME_SERVER = "socket.getaddrinfo = lambda *_, **__: (print('asked', flush=True), threading.Event().wait())"


def process(how: str, *, before: str = "", after: str = "") -> "subprocess.Popen[str]":
    command = [sys.executable, "-W", "error", "-c", _ASKS.format(before=before, after=after), how]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_a_process_ends_while_the_server_says_nothing(model_server: ModelServer) -> None:
    model_server.always(silent())
    with process("start", after="import time\nwhile not client.usage.requests: time.sleep(0.01)") as asks:
        out, err = asks.communicate(timeout=SOON)
    assert (out, err, asks.returncode) == ("", "", 0)


@pytest.mark.slow
def test_a_process_ends_while_a_name_server_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://a-name.invalid")
    monkeypatch.setenv("FERRULE_ASK_BUDGETS", "1 1 1")
    with process("ask", before=_NO_NAME_SERVER) as asks:
        out, err = asks.communicate(timeout=SOON)
    assert (set(out.split()), err, asks.returncode) == ({"asked", "TIMEOUT"}, "", 0)


def test_an_interrupt_ends_a_question(model_server: ModelServer) -> None:
    model_server.always(silent())
    with process("ask") as asks:
        until(lambda: model_server.requests)
        asks.send_signal(signal.SIGINT)
        out, err = asks.communicate(timeout=SOON)
    assert out == ""
    assert err.rstrip().endswith("KeyboardInterrupt")
    assert asks.returncode == -signal.SIGINT


def test_the_package_imports_nothing_that_takes_long() -> None:
    code = "import sys, ferrule_ask; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    heavy = {"httpx", "httpcore", "anyio", "click", "jsonschema", "asyncio", "ssl", "tenacity", "typing", "re"}
    assert not heavy & set(done.stdout.split())
