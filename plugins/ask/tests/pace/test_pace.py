"""However many questions there are, a provider's limits are kept, and waiting answers what can be answered."""

import math
import random
import threading
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferrule_ask import Answer, Client
from ferrule_ask.pace.bucket import State
from ferrule_ask.pace.clock import Clock
from ferrule_testkit.model.memory_tools import SEARCH, MemoryTools, no_tools
from ferrule_testkit.model.server import ModelServer, calls, failure, says
from ferrule_testkit.model.token_bucket import TokenBucket
from ferrule_testkit.model.virtual_pace import VirtualRows

Make = Callable[..., Client]
pytestmark = [pytest.mark.process, pytest.mark.usefixtures("ask_environment")]
MINUTE_A_SECOND = 60


@pytest.fixture
def clock() -> Clock:
    """One whose minute is a second."""
    return Clock(MINUTE_A_SECOND)


@pytest.fixture
def patient(client: Make, clock: Clock) -> Make:
    """Makes clients without tools that wait as long as it takes."""
    return lambda **settings: client(**{"toolbox": no_tools(), "clock": clock, "patience": math.inf, **settings})


def ask_all(one: Client, rows: int, prefix: str = "Row") -> list[Answer]:
    return [future.result(60) for future in [one.start(None, f"{prefix} {row}") for row in range(rows)]]


# ---- the bars


@pytest.mark.slow
@pytest.mark.parametrize(("tells", "most"), [(True, 110), (False, 130)])
def test_a_hundred_rows_at_fifty_a_minute_are_all_answered_with_hardly_a_refusal(
    tells: bool, most: int, patient: Make, clock: Clock, model_server: ModelServer
) -> None:
    bucket = TokenBucket(50, clock=clock, tells=tells)
    model_server.script(bucket)
    answers = ask_all(patient(), 100)
    assert [answer.text for answer in answers] == [f"Row {row}" for row in range(100)]
    assert len(model_server.requests) <= most


@pytest.mark.slow
@pytest.mark.parametrize(("tells", "burst"), [(True, None), (True, 10), (False, 10)])
def test_two_hundred_rows_at_two_hundred_and_fifty_a_minute_are_all_answered(
    tells: bool, burst: int | None, patient: Make, clock: Clock, model_server: ModelServer
) -> None:
    model_server.script(TokenBucket(250, burst, clock=clock, tells=tells))
    assert {answer.code for answer in ask_all(patient(), 200)} == {None}
    if burst is None:
        assert len(model_server.requests) == 200


@pytest.mark.slow
@pytest.mark.parametrize(("tells", "most"), [(True, 6), (False, 20)])
def test_a_wait_that_the_provider_names_is_waited_for_once(
    tells: bool, most: int, patient: Make, clock: Clock, model_server: ModelServer
) -> None:
    bucket = TokenBucket(50, 20, clock=clock, tells=tells, waits=45, is_empty=True)
    model_server.script(bucket)
    assert {answer.code for answer in ask_all(patient(concurrency=8), 60)} == {None}
    if not bucket.refused:
        pytest.skip("elsewhere: this machine is too busy to ask faster than the provider allows")
    first = bucket.refused[0]
    assert [instant for instant in bucket.taken if first < instant < first + 45] == []
    # Those of the first refusal were under way together; after the wait, the pace is known, or is found out.
    assert len([instant for instant in bucket.refused if instant < first + 45]) <= 8
    assert len([instant for instant in bucket.refused if instant >= first + 45]) <= most


def test_one_refusal_halts_all_rows_of_all_clients(patient: Make, clock: Clock, model_server: ModelServer) -> None:
    model_server.script(failure(429, retry_after=30), *[says("Fine.")] * 16)
    one, other = patient(concurrency=1), patient()
    halted = threading.Event()
    first = patient(concurrency=1, event=lambda kind, facts: kind == "retry" and halted.set()).start(None, "?")
    assert halted.wait(20)
    rest = [client.start(None, "?") for client in (one, other) for _ in range(4)]
    assert {future.result(30).text for future in [first, *rest]} == {"Fine."}
    refused, *later = [clock.at(request.wall) for request in model_server.requests]
    assert min(later) >= refused + 30
    assert len(later) == 9


def test_a_server_that_is_busy_is_asked_until_it_is_not(patient: Make, model_server: ModelServer) -> None:
    model_server.script(*[failure(529)] * 6, says("Fine."))
    assert patient().ask(None, "?").text == "Fine."
    assert len(model_server.requests) == 7


# ---- what patience is for


def test_a_question_without_patience_is_told_when_its_turn_is_and_sends_nothing(
    client: Make, model_server: ModelServer
) -> None:
    model_server.script(failure(429, retry_after=100), says("never"))
    one = client(toolbox=no_tools())
    assert "Ask again in 100 seconds" in str(one.ask(None, "?").error)
    answer = one.ask(None, "?")
    assert answer.code == "RATE_LIMIT"
    assert "the turn of this one would come too late. Ask again in 100 seconds" in str(answer.error)
    assert len(model_server.requests) == 1


def test_patience_comes_to_an_end(patient: Make, model_server: ModelServer) -> None:
    model_server.always(failure(429, retry_after=20))
    answer = patient(patience=50).ask(None, "?")
    assert answer.code == "RATE_LIMIT"
    assert len(model_server.requests) == 3


@pytest.mark.slow
def test_budgets_do_not_run_while_a_turn_is_waited_for(patient: Make, model_server: ModelServer) -> None:
    clock = Clock(10)
    model_server.script(TokenBucket(50, 5, clock=clock))
    one = patient(budgets=(3, 1, 1), concurrency=40, clock=clock)
    assert {answer.code for answer in ask_all(one, 40)} == {None}  # the last one waits for more than four seconds


def test_a_cancelled_question_gives_its_turn_back(patient: Make, clock: Clock, model_server: ModelServer) -> None:
    waits: list[float] = []
    are_waiting = threading.Event()

    def listen(kind: str, facts: Mapping[str, Any]) -> None:
        waits.append(facts["seconds"])
        if len(waits) == 19:
            are_waiting.set()

    model_server.script(TokenBucket(50, clock=clock))
    one = patient(requests_per_minute=1, concurrency=20, event=listen, patience=100_000)
    assert one.ask(None, "first").text
    futures = [one.start(None, "later") for _ in range(19)]
    assert are_waiting.wait(20)
    for future in futures:
        future.cancel()
    assert one.ask(None, "next").text == "next"
    assert waits[18] > 18 * 60
    assert waits[19] <= 60


# ---- limits of the user's own


@pytest.mark.slow
def test_a_limit_of_the_user_s_own_is_kept_from_the_first_request_on(patient: Make, model_server: ModelServer) -> None:
    clock = Clock(20)
    bucket = TokenBucket(60, 20, clock=clock, tells=False)
    model_server.script(bucket)
    assert {answer.code for answer in ask_all(patient(requests_per_minute=60, clock=clock), 60)} == {None}
    assert bucket.refused == []


@pytest.mark.slow
def test_tokens_count_too(patient: Make, clock: Clock, model_server: ModelServer) -> None:
    bucket = TokenBucket(6_000, clock=clock)
    model_server.script(bucket)
    one = patient(tokens_per_minute=12_000, max_tokens=100)
    began = clock.now()
    answers = [future.result(30) for future in [one.start("x" * 4_000, f"Row {row}") for row in range(30)]]
    assert {answer.code for answer in answers} == {None}
    assert clock.now() - began > 60 * (30 * 1_000 - 2_000) / 12_000  # each has about a thousand tokens


def test_tokens_that_the_provider_counts_are_learnt() -> None:
    state, turn = State(), {"requests": 1.0, "input-tokens": 500.0}
    state.take(turn)
    state.tell(0.0, "input-tokens", 6_000, 400, uncounted=0)
    assert state.wait(0.0, turn) == pytest.approx(1.0)
    state.take(turn)
    assert state.wait(1.0, turn) == pytest.approx(5.0)
    assert state.wait(1.0, {"requests": 1.0, "input-tokens": 9_000.0}) == pytest.approx(60.0)  # more than it ever holds


@given(
    st.floats(1, 1000),
    st.lists(st.tuples(st.floats(0, 20), st.booleans(), st.integers(0, 60)), max_size=40),
)
def test_in_no_minute_more_turns_come_than_the_bucket_holds_and_gets(
    per_minute: float, steps: list[tuple[float, bool, int]]
) -> None:
    """Whatever is said of what is left, as long as it is not too much, and whoever gives back."""
    state, now, turns = State(), 0.0, []
    state.tell(now, "requests", per_minute, per_minute, uncounted=0)
    for later, gives_back, left in steps:
        now += later
        seconds = state.wait(now, {"requests": 1.0})
        state.take({"requests": 1.0})
        if gives_back:
            state.take({"requests": 1.0}, -1.0)
        else:
            turns.append(now + seconds)
        state.tell(now, "requests", per_minute, min(left, per_minute - 1), uncounted=60)
    assert turns == sorted(turns)
    for start, first in enumerate(turns):
        came = sum(first <= one < first + 60 for one in turns[start:])
        assert came <= 2 * per_minute + 1


# ---- a provider that tells nothing


def test_without_a_word_of_the_provider_the_pace_is_measured_between_two_refusals() -> None:
    state = State()
    for _ in range(50):
        state.accept(0.1, 0.1)
    state.refuse(0.1, None, waiting=0)
    guess = state.buckets["requests"]
    assert (guess.capacity, guess.evidence) == (50, 0)
    for tenth in range(1, 11):  # ten in the ten seconds until the next refusal
        state.accept(0.1 + tenth, 0.1 + tenth)
    state.refuse(10.1, None, waiting=0)
    assert guess.per_minute == pytest.approx(60)


@pytest.mark.parametrize("latency", [0.05, 1.5])
@pytest.mark.parametrize(
    ("per_minute", "burst", "rows", "most", "concurrency"),
    [
        (50, 5, 30, 1.3, 16),
        (50, 5, 60, 1.3, 16),
        (600, 10, 100, 1.7, 16),
        (4_000, 50, 1_000, 1.3, 64),
        (60, 1, 120, 1.5, 16),
    ],
)
def test_bursts_of_all_sizes_are_learnt_from_few_refusals(
    per_minute: int, burst: int, rows: int, most: float, concurrency: int, latency: float
) -> None:
    done = VirtualRows(per_minute, burst, concurrency=concurrency, latency=latency).ask(rows)
    assert done.seconds <= most * done.ideal_seconds
    assert done.most_refusals <= 3
    assert done.refusals <= 30 + concurrency


def test_while_the_pace_is_looked_for_it_doubles_and_then_it_rises_little_by_little() -> None:
    state = State()
    state.refuse(0.0, None, waiting=0)
    guess = state.buckets["requests"]
    rates = []
    for second in range(1, 4):
        state.accept(second, second)
        rates.append(guess.per_minute)
    assert rates == [240, 480, 960]
    state.refuse(3.0, None, waiting=0)
    measured = guess.per_minute
    assert measured == pytest.approx(60)
    for second in range(4, 40):
        state.accept(second, second)
    assert measured < guess.per_minute < 20 * measured


def test_what_was_begun_before_a_refusal_says_nothing_of_what_came_in_since() -> None:
    state = State()
    state.refuse(10.0, None, waiting=0)
    for _ in range(20):
        state.accept(11.0, 9.0)
    state.refuse(12.0, None, waiting=0)
    assert state.buckets["requests"].per_minute < 60


def test_a_limit_that_the_user_has_set_is_believed_and_no_other_is_guessed() -> None:
    state = State()
    for instant in (0.0, 1.0):
        state.refuse(instant, 0.1, waiting=0, has_own=True)
        assert "requests" not in state.buckets
    state.refuse(2.0, 0.1, waiting=0, has_own=True)
    assert "requests" in state.buckets  # after the third in a row


def test_refusals_in_a_row_are_waited_for_longer_and_longer() -> None:
    state, now, waits = State(), 0.0, []
    for _ in range(9):
        waits.append(state.refuse(now, None, waiting=0))
        now += waits[-1]
    assert waits == [0.5, 1, 2, 4, 8, 16, 32, 60, 60]
    assert state.refuse(now, 0, waiting=0) > 0  # "at once" is no reason to hurry
    state.accept(now + 100, now + 100)
    assert state.refuse(now + 100, None, waiting=0) == 0.5


@pytest.mark.parametrize(
    "data",
    [
        *(b"", b"{", b"[]", b"\xff", b'{"buckets": 1}', b'{"buckets": {"a": [1]}}'),
        *(b'{"buckets": {"a": [0, 1, 1, 1]}, "blocked": 0}', b'{"buckets": {}, "blocked": "x"}'),
        *(b'{"buckets": {}, "other": 1}', b'{"buckets":{},"blocked":1e300}'),
    ],
)
def test_a_state_that_says_nothing_sensible_counts_as_none(data: bytes) -> None:
    assert State.read(data, 1_000_000.0) == State()


def test_a_state_comes_back_as_it_was_and_not_for_ever() -> None:
    state = State()
    state.tell(100.0, "requests", 50, 3, uncounted=0)
    state.refuse(100.0, 2_000, waiting=0)
    data = state.write(100.0)
    assert State.read(data, 101.0) == state
    assert State.read(data, 2_000.0).blocked == 2_100
    assert State.read(data, 3_000.0) == State()


# ---- search tools


@pytest.mark.slow
def test_a_search_that_has_to_wait_for_its_turn_does_so_outside_of_its_ten_seconds(
    patient: Make, clock: Clock, model_server: ModelServer
) -> None:
    tools = SlowPlan(clock)
    search = calls(SEARCH, {"query": "a"})
    model_server.script(lambda request: says("It is 95.") if request.is_second else search)
    one = patient(toolbox=tools, budgets=(30, 0.5, 30))
    answers = ask_all(one, 40)
    assert {(answer.text, answer.tool_outcome) for answer in answers} == {("It is 95.", "ok")}
    assert one.usage.tool_failures == 0


def test_without_patience_a_search_that_is_refused_is_told_as_such(client: Make, model_server: ModelServer) -> None:
    tools = MemoryTools(content="No.", is_error=True, code="RATE_LIMIT", error="Too often.")
    model_server.script(calls(SEARCH, {"query": "a"}), says("From memory."))
    answer = client(toolbox=tools).ask(None, "?")
    assert (answer.tool_outcome, answer.tool_code) == ("failed", "RATE_LIMIT")
    assert len(tools.executed) == 1


class SlowPlan(MemoryTools):
    """A search whose plan takes one call a second, as its rate limiter tells: with the seconds until the turn."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self._clock, self._next = clock, 0.0

    async def execute(self, name: str, arguments: Mapping[str, Any], seconds: float) -> Any:
        now = self._clock.now()
        wait = max(0.0, self._next - now)
        result = await super().execute(name, arguments, seconds)
        if wait > 7:
            return result._replace(is_error=True, code="RATE_LIMIT", error="Too often.", retry_after=math.ceil(wait))
        self._next = max(now, self._next) + 1
        await self._clock.sleep(wait)
        return result


# ---- by chance


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_whatever_a_provider_refuses_in_between_every_row_is_answered(
    seed: int, patient: Make, clock: Clock, model_server: ModelServer
) -> None:
    chance = random.Random(seed)
    bucket = TokenBucket(600, 40, clock=clock, tells=bool(seed % 2))
    lock = threading.Lock()

    def reply(request: Any) -> Any:
        with lock:
            luck = chance.random()
        if luck < 0.05:
            return failure(529)
        if luck < 0.1:
            return failure(429, retry_after=chance.choice([None, 0, 1, 5]))
        return bucket(request)

    model_server.script(reply)
    assert {answer.code for answer in ask_all(patient(), 100)} == {None}
