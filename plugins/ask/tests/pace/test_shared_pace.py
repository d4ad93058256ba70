"""Processes of a user share the pace, and machines do over Redis; where that cannot be, each goes on by itself."""

import asyncio
import math
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ferrule_ask import Client
from ferrule_ask.pace.clock import Clock
from ferrule_ask.pace.pacer import Need, Pace, Pacer, TurnTooLate
from ferrule_ask.pace.store import Store
from ferrule_testkit.model.memory_tools import no_tools
from ferrule_testkit.model.server import ModelServer, says
from ferrule_testkit.model.token_bucket import TokenBucket
from ferrule_testkit.programs.redis_server import RedisServer

Make = Callable[..., Client]
pytestmark = [pytest.mark.process, pytest.mark.usefixtures("ask_environment")]


@pytest.fixture
def clock() -> Clock:
    """One whose minute is a second."""
    return Clock(60)


@pytest.fixture
def patient(client: Make, clock: Clock) -> Make:
    """Makes clients without tools that wait as long as it takes."""
    return lambda **settings: client(**{"toolbox": no_tools(), "clock": clock, "patience": math.inf, **settings})


def codes(one: Client, rows: int) -> set[str | None]:
    return {future.result(60).code for future in [one.start(None, f"Row {row}") for row in range(rows)]}


_ASKS = """
import math, sys
from ferrule_ask import Client
from ferrule_ask.pace.clock import Clock
client = Client(tools=(), clock=Clock(60), patience=math.inf)
futures = [client.start(None, f"{{sys.argv[1]}} {{row}}") for row in range({rows})]
print(sum(future.result().code is None for future in futures))
"""


def ask_in_processes(number: int, rows: int) -> list[int]:
    command = [sys.executable, "-c", textwrap.dedent(_ASKS.format(rows=rows))]
    running = [subprocess.Popen([*command, str(one)], stdout=subprocess.PIPE, text=True) for one in range(number)]
    return [int(process.communicate(timeout=60)[0]) for process in running]


@pytest.mark.slow
def test_processes_of_a_user_share_the_pace(model_server: ModelServer, clock: Clock) -> None:
    bucket = TokenBucket(50, 20, clock=clock)
    model_server.script(bucket)
    assert ask_in_processes(3, 20) == [20, 20, 20]
    assert len(bucket.refused) <= 16


def test_a_program_without_limits_does_not_take_away_those_of_another_one() -> None:
    clock = Clock()
    free, bound = Pacer(Store("key", clock), clock), Pacer(Store("key", clock), clock, Pace(requests=3))
    asyncio.run(bound.take(Need(), 0.0))
    for _ in range(3):
        asyncio.run(free.take(Need(), 0.0))
        with pytest.raises(TurnTooLate) as late:
            asyncio.run(bound.take(Need(), 0.0))
    assert late.value.seconds > 60  # what the other one takes counts
    assert late.value.per_minute == 3


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[RedisServer]:
    with RedisServer(tmp_path) as server:
        yield server


def take_all(pacer: Pacer) -> int:
    """How many turns can be taken at once."""
    for number in range(9):
        try:
            asyncio.run(pacer.take(Need(), 0.0))
        except TurnTooLate:
            return number
    raise AssertionError("there is no end of it")


def test_machines_share_the_pace_over_redis(
    redis: RedisServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two pacers with a state folder each, as two machines have."""
    taken, clock = [], Clock()
    for machine in ("a", "b"):
        monkeypatch.setenv("FERRULE_STATE", str(tmp_path / machine))
        pacer = Pacer(Store("key", clock, redis.url), clock, Pace(requests=3))
        taken.append(take_all(pacer))
        pacer.close()
        assert not (tmp_path / machine).exists()
    assert taken == [1, 0]
    without = Pacer(Store("key", clock), clock, Pace(requests=3))
    asyncio.run(without.take(Need(), 0.0))  # which knows nothing of what Redis knows


def test_where_redis_does_not_answer_the_machine_goes_on_by_itself_and_it_is_said_once(
    patient: Make, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch, ferrule_settings: Callable[[str], Path]
) -> None:
    ferrule_settings('[ask]\nredis = "redis://127.0.0.1:1/0"\n')
    model_server.always(says("Fine."))
    told: list[str] = []
    one = patient(event=lambda kind, facts: told.append(facts["message"]) if kind == "warning" else None)
    assert codes(one, 20) == {None}
    assert len(told) == 1
    assert "Redis cannot be used" in told[0]


def test_a_state_folder_that_cannot_be_written_costs_nothing_but_the_sharing(
    patient: Make, clock: Clock, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("FERRULE_STATE", str(tmp_path / "file"))
    bucket = TokenBucket(50, 10, clock=clock)
    model_server.script(bucket)
    assert codes(patient(), 40) == {None}
    assert len(bucket.refused) <= 16
