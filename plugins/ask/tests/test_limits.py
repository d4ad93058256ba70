"""Limits hold, however many questions run at once, and the account says what was used."""

import asyncio
import json
import math
import os
import random
import threading
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferrule_ask import Answer, Client, Limits, Usage
from ferrule_ask.cost.limits import LimitReached, Reservation
from ferrule_ask.cost.prices import Price, max_tokens
from ferrule_ask.models.dialogue import user_text
from ferrule_ask.models.json_text import encode
from ferrule_ask.pace.clock import Clock
from ferrule_dev.testing import refused_port
from ferrule_testkit.model.memory_tools import SEARCH, MemoryTools, no_tools
from ferrule_testkit.model.server import ModelRequest, ModelServer, Reply, after, calls, failure, reset, says, silent

Make = Callable[..., Client]
pytestmark = [pytest.mark.process, pytest.mark.usefixtures("ask_environment")]
PRICE = Price.of(2, 10)


@pytest.mark.parametrize("wrong", [{"calls": -1}, {"spend": -1}, {"spend": float("nan")}])
def test_a_limit_is_an_amount(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="has to be"):
        Limits(**wrong)


def test_a_limit_on_calls_counts_requests(client: Make, model_server: ModelServer) -> None:
    model_server.always(says("Fine."))
    limits = Limits(calls=2)
    one = client(limits=limits, toolbox=no_tools())
    answers = [one.ask(None, "?") for _ in range(3)]
    assert [answer.code for answer in answers] == [None, None, "BUDGET_EXHAUSTED"]
    assert "limit of 2 calls" in str(answers[2].error)
    assert (len(model_server.requests), limits.calls_used) == (2, 2)


@pytest.mark.parametrize(("limits", "words"), [({"calls": 1}, "1 is left"), ({"spend": 0.05}, "a call of a tool")])
def test_a_limit_that_could_not_pay_the_second_request_stops_the_first(
    limits: dict[str, Any], words: str, client: Make, model_server: ModelServer
) -> None:
    tools = MemoryTools()
    model_server.always(calls(SEARCH, {"query": "a"}, text="Let me look."))
    one = client(limits=Limits(**limits), toolbox=tools)
    plan, answer = one.plan(None, "?"), one.ask(None, "?")
    assert (answer.code, answer.text, answer.tool) == ("BUDGET_EXHAUSTED", None, None)
    assert words in str(answer.error)
    assert (tools.executed, model_server.requests) == ([], [])
    assert plan.cost_max is not None
    assert plan.cost_max > 0.05


def test_what_a_question_without_a_call_leaves_is_free_for_the_next_one(
    client: Make, model_server: ModelServer
) -> None:
    model_server.always(says("Fine."))
    limits = Limits(calls=4)
    one = client(limits=limits)
    answers = [future.result() for future in [one.start(None, "?") for _ in range(5)]]
    assert sorted(str(answer.code) for answer in answers) == ["BUDGET_EXHAUSTED"] * 2 + ["None"] * 3
    assert limits.calls_used == 3


def test_a_limit_holds_while_a_busy_server_is_asked_again_and_again(client: Make, model_server: ModelServer) -> None:
    model_server.always(failure(529))
    limits = Limits(calls=20, spend=1)
    one = client(limits=limits, toolbox=no_tools(), patience=math.inf, clock=Clock(1000), concurrency=8)
    answers = [future.result() for future in [one.start(None, "?") for _ in range(10)]]
    assert {answer.code for answer in answers} == {"OVERLOADED", "BUDGET_EXHAUSTED"}
    assert (len(model_server.requests), limits.calls_used, limits.spent) == (20, 20, 0)


def test_a_tool_that_nothing_comes_of_leaves_room_for_others(client: Make, model_server: ModelServer) -> None:
    limits = Limits(calls=3, spend=5)
    model_server.script(calls(SEARCH, {"query": "a"}), says("Fine."))
    tools = MemoryTools(seconds=30)
    future = client(limits=limits, toolbox=tools).start(None, "?")
    wait_until(lambda: limits.calls_used == 2 and tools.executed)
    future.cancel()
    wait_until(lambda: limits.calls_used == 1)
    assert limits.spent == pytest.approx((20 * 2 + 10 * 10) / 1e6)


def test_a_model_without_a_price_is_not_asked_under_a_limit_on_spending(
    client: Make,
    model_server: ModelServer,
) -> None:
    model_server.always(says("Fine."))
    one = client(limits=Limits(spend=1), toolbox=no_tools())
    answer = one.ask(None, "?", model="unheard-of")
    assert answer.code == "PRICE_UNKNOWN"
    for word in ("unheard-of", "[ask.prices]", "ferrule ask --prices", "without the limit"):
        assert word in str(answer.error)
    assert model_server.requests == []
    priced = client(limits=Limits(spend=1), toolbox=no_tools(), prices={"unheard-of": (1, 1)})
    assert priced.ask(None, "?", model="unheard-of").cost == pytest.approx(30 / 1e6)
    assert client(limits=Limits(calls=1), toolbox=no_tools()).ask(None, "?", model="unheard-of").text == "Fine."


@pytest.mark.parametrize(
    ("reply", "spends"),
    [(silent(), True), (reset(where="body"), True), (failure(400), False), (failure(500, should_retry=False), False)],
)
def test_what_has_no_answer_counts_as_its_worst_case(
    reply: Reply,
    spends: bool,
    client: Make,
    model_server: ModelServer,
) -> None:
    model_server.always(reply)
    limits = Limits(spend=1)
    client(limits=limits, toolbox=no_tools(), budgets=(0.3, 1, 1)).ask(None, "?", max_tokens=1000)
    worst = float(PRICE.cost(max_tokens(len(model_server.requests[0].raw)), 1000))
    assert limits.spent == (worst if spends else 0.0)
    assert limits.calls_used == 1


def test_what_never_reached_a_server_does_not_count(client: Make) -> None:
    limits = Limits(calls=1, spend=1)
    one = client(limits=limits, toolbox=no_tools(), base_url=f"http://127.0.0.1:{refused_port()}", budgets=(0.3, 1, 1))
    assert [one.ask(None, "?").code for _ in range(2)] == ["NETWORK_ERROR"] * 2
    assert (limits.calls_used, limits.spent) == (0, 0.0)


def test_a_question_waits_where_room_may_become_free(client: Make, model_server: ModelServer) -> None:
    model_server.always(after(0.1, says("Fine.")))
    worst = 0.011
    one = client(limits=Limits(spend=worst * 1.5), toolbox=no_tools())
    answers = [future.result() for future in [one.start(None, "?") for _ in range(4)]]
    assert [answer.text for answer in answers] == ["Fine."] * 4
    assert model_server.peak == 1


def test_many_questions_of_several_clients_never_pass_the_limits(client: Make, model_server: ModelServer) -> None:
    chance = random.Random(7)
    reported: list[float] = []
    lock = threading.Lock()

    def reply(request: ModelRequest) -> Reply:
        with lock:
            kind, tokens = chance.random(), chance.randint(1, request.body["max_tokens"])
        if kind < 0.1:
            return failure(529, retry_after_ms=5)
        usage = {"input_tokens": len(request.raw), "output_tokens": tokens}
        with lock:
            reported.append((len(request.raw) * 2 + tokens * 10) / 1e6)
        wants = kind < 0.5 and not request.is_second
        return after(0.01, calls(SEARCH, {"query": "a"}, **usage) if wants else says("Fine.", **usage))

    model_server.script(reply)
    limits = Limits(calls=60, spend=0.2)
    clients = [client(limits=limits, concurrency=8) for _ in range(3)]
    futures = [one.start(None, f"Question {number}?") for number in range(30) for one in clients]
    answers = [future.result() for future in futures]
    codes = {answer.code for answer in answers}
    assert {None, "BUDGET_EXHAUSTED"} <= codes <= {None, "BUDGET_EXHAUSTED", "OVERLOADED"}
    assert len(model_server.requests) <= 60
    assert sum(reported) <= 0.2
    assert limits.spent == pytest.approx(sum(reported))
    assert limits.calls_used == len(model_server.requests) == sum(one.usage.requests for one in clients)


def test_the_account_is_the_sum_of_the_answers(client: Make, model_server: ModelServer) -> None:
    model_server.script(calls(SEARCH, {"query": "a"}), says("Fine."), says("Fine."), failure(401))
    one = client()
    answers: list[Answer] = [one.ask(None, "?") for _ in range(3)]
    assert one.usage == Usage(
        questions=3,
        requests=4,
        tool_calls=1,
        input_tokens=sum(answer.input_tokens for answer in answers),
        output_tokens=sum(answer.output_tokens for answer in answers),
        cost=pytest.approx(sum(answer.cost or 0 for answer in answers)),  # type: ignore[arg-type] # wrong on purpose, or of another shape than the type
        failures=1,
    )


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")  # which later Pythons give
def test_a_fork_counts_what_is_under_way_as_spent() -> None:
    limits = Limits(calls=5, spend=1)
    asyncio.run(limits.reserve(Decimal("0.25")))
    pid = os.fork()
    if pid == 0:
        os._exit(0 if (limits.calls_used, limits.spent, limits._reserved) == (1, 0.25, {}) else 1)
    assert os.waitpid(pid, 0)[1] == 0


steps = st.lists(
    st.tuples(st.sampled_from(["reserve", "settle", "lose", "release"]), st.integers(0, 40), st.integers(0, 9)),
    max_size=40,
)


@given(steps, st.none() | st.integers(0, 6), st.none() | st.integers(0, 100))
def test_no_order_of_things_passes_a_limit(
    steps: list[tuple[str, int, int]], most: int | None, cap: int | None
) -> None:
    async def run() -> None:
        limits = Limits(calls=most, spend=cap)
        held: list[tuple[Reservation, int]] = []
        for kind, cost, which in steps:
            if kind == "reserve":
                try:
                    reservation = await asyncio.wait_for(limits.reserve(Decimal(cost)), 0.001)
                except (LimitReached, TimeoutError):
                    continue
                held.append((reservation, cost))
            elif held:
                reservation, worst = held.pop(which % len(held))
                if kind == "settle":
                    reservation.settle(Decimal(min(cost, worst)))
                else:
                    getattr(reservation, kind)()
            assert most is None or limits.calls_used <= most
            assert cap is None or limits.spent <= cap

    asyncio.run(run())


@given(st.text(max_size=300), st.text(max_size=300))
def test_no_text_has_more_bytes_than_its_request(context: str, prompt: str) -> None:
    body = encode({"messages": [{"role": "user", "content": user_text(context, prompt)}]})
    assert json.loads(body)["messages"][0]["content"] == user_text(context, prompt)
    assert max_tokens(len(body)) >= len(prompt.encode()) + len(context.encode())


def wait_until(condition: Callable[[], bool]) -> None:
    done = threading.Event()
    for _ in range(1000):
        if condition():
            return
        done.wait(0.01)
    raise AssertionError("it never came to that")
