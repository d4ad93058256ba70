"""A circuit breaker that processes share."""

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ferrule_testkit.programs.redis_server import RedisServer
from ferrule_websearch.pace import circuit_breaker as module
from ferrule_websearch.pace.circuit_breaker import RATE_LIMITED, SPENT, CircuitBreaker, State, format_state, parse_state

pytestmark = pytest.mark.process


NOW = 1_800_000_000.0


@pytest.fixture(params=["files", "redis"])
def store(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("FERRULE_STATE", str(tmp_path / "state"))
    monkeypatch.delenv("FERRULE_REDIS", raising=False)
    if request.param == "files":
        yield "files"
        return
    with RedisServer(tmp_path) as server:
        monkeypatch.setenv("FERRULE_REDIS", server.url)
        yield "redis"
        assert not (tmp_path / "state").exists()


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FERRULE_STATE", str(tmp_path))
    monkeypatch.delenv("FERRULE_REDIS", raising=False)
    return tmp_path / "breakers"


def test_it_opens_with_the_third_failure_in_a_row(store: str) -> None:
    breaker = CircuitBreaker("almanac")
    for _ in range(2):
        breaker.record_failure()
        assert breaker.admit(10) == 0
    breaker.record_failure()
    assert 0 < breaker.admit(10) <= 36
    assert CircuitBreaker("almanac").seconds_until_trial() > 0
    assert CircuitBreaker("another").admit(10) == 0


def test_an_answer_sets_the_count_to_nothing(store: str) -> None:
    breaker = CircuitBreaker("almanac")
    for _ in range(3):
        breaker.record_failure()
        breaker.record_failure()
        breaker.record_answer()
    assert breaker.admit(10) == 0


@pytest.mark.parametrize(("drawn", "seconds"), [(0.0, 30.0), (0.5, 33.0), (1.0, 36.0)])
def test_it_is_open_for_thirty_seconds_and_up_to_a_fifth_more(
    store: str, monkeypatch: pytest.MonkeyPatch, drawn: float, seconds: float
) -> None:
    monkeypatch.setattr(random, "random", lambda: drawn)
    breaker = CircuitBreaker("almanac")
    for _ in range(3):
        breaker.record_failure()
    assert seconds - 5 < breaker.seconds_until_trial() <= seconds


def test_a_rate_limit_opens_it_at_once_and_is_no_failure(store: str) -> None:
    breaker = CircuitBreaker("almanac")
    breaker.record_rate_limit(500)
    assert 490 < breaker.seconds_until_trial() <= 500
    breaker.record_rate_limit(5)
    assert breaker.seconds_until_trial() > 490
    other = CircuitBreaker("other")
    assert breaker.cause == RATE_LIMITED
    breaker.record_rate_limit(5, is_spent=True)
    breaker.seconds_until_trial()
    assert breaker.cause == RATE_LIMITED  # which is what keeps it longest
    breaker.record_rate_limit(900, is_spent=True)
    breaker.record_failure()
    assert CircuitBreaker("almanac").admit(10) > 890
    breaker.seconds_until_trial()
    assert breaker.cause == SPENT
    other.record_rate_limit(None)
    assert 25 < other.seconds_until_trial() <= 30


def test_one_call_tries_when_the_time_is_over_and_its_end_decides(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "REST_SECONDS", 0.0)
    breaker = CircuitBreaker("almanac")
    for _ in range(3):
        breaker.record_failure()
    assert breaker.admit(50) == 0
    assert 40 < breaker.admit(50) <= 50
    breaker.record_failure()
    assert breaker.admit(50) == 0
    breaker.record_answer()
    assert [breaker.admit(50), breaker.admit(50)] == [0, 0]


def test_a_trial_that_never_ends_keeps_nobody_out_for_ever(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "REST_SECONDS", 0.0)
    breaker = CircuitBreaker("almanac")
    for _ in range(3):
        breaker.record_failure()
    assert [breaker.admit(0), breaker.admit(0)] == [0, 0]


def test_no_failure_of_many_processes_is_lost(store: str) -> None:
    head = "from ferrule_websearch.pace.circuit_breaker import CircuitBreaker\n"
    script = head + "for _ in range(25): CircuitBreaker('almanac').record_rate_limit({})"
    count = head + "CircuitBreaker('counted').record_failure()"
    started = [subprocess.Popen([sys.executable, "-c", count], env=os.environ) for _ in range(3)]
    started += [subprocess.Popen([sys.executable, "-c", script.format(n)], env=os.environ) for n in (100, 200)]
    assert [process.wait() for process in started] == [0] * 5
    assert CircuitBreaker("counted").seconds_until_trial() > 0
    assert CircuitBreaker("almanac").seconds_until_trial() > 150


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff\xfe",
        b"[" * 300,
        b"{}",
        b"[1]garbage",
        b'["a", "b", "c", "d", "e"]',
        b"[1, 2]",
        b"[null, null, null, null, null]",
        b"[0, 9e300, 0, 0, 0]",
        b"[3, 0, 0, 0, 7]",
        b"[3, 0, 0, 0]",
        format_state(State(3, NOW + 30, 0, NOW + 60)),
        format_state(State(3, NOW + 50 * 86_400, 0, NOW)),
        format_state(State(-3, NOW + 30, 0, NOW)),
        format_state(State(3, NOW - 30, NOW + 50 * 86_400, NOW)),
    ],
)
def test_a_state_that_makes_no_sense_is_a_closed_one(data: bytes) -> None:
    assert parse_state(data, NOW) == State()


def test_a_state_is_read_as_it_was_written() -> None:
    state = State(3, NOW + 30.25, NOW + 1.5, NOW, SPENT)
    assert parse_state(format_state(state), NOW) == state
    assert len(format_state(state)) == len(format_state(State()))


def test_files_are_the_users_alone_and_hold_no_key(files: Path) -> None:
    CircuitBreaker("almanac", "a-secret-key").record_failure()
    (path,) = files.iterdir()
    assert path.stat().st_mode & 0o777 == 0o600
    assert files.stat().st_mode & 0o777 == 0o700
    assert b"secret" not in path.read_bytes() + path.name.encode()


def test_where_no_file_can_be_it_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FERRULE_STATE", "/proc/nowhere")
    monkeypatch.delenv("FERRULE_REDIS", raising=False)
    breaker = CircuitBreaker("almanac")
    for _ in range(5):
        breaker.record_failure()
    assert (breaker.admit(10), breaker.seconds_until_trial()) == (0, 0)


def test_an_answer_of_a_provider_that_is_well_writes_nothing(files: Path) -> None:
    breaker = CircuitBreaker("almanac")
    breaker.admit(10)
    breaker.record_answer()
    assert [path.stat().st_size for path in files.iterdir()] == [0]


def test_a_clock_that_was_set_back_does_not_keep_it_open(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    breaker = CircuitBreaker("almanac")
    breaker.record_rate_limit(1000)
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() - 3600)
    assert breaker.seconds_until_trial() == 0


def test_a_failure_does_not_shorten_a_rate_limit(store: str) -> None:
    breaker = CircuitBreaker("almanac")
    breaker.record_rate_limit(500)
    for _ in range(4):
        breaker.record_failure()
    assert 490 < breaker.seconds_until_trial() <= 500


def test_an_answer_to_an_older_request_does_not_close_it(store: str) -> None:
    breaker = CircuitBreaker("almanac")
    breaker.record_rate_limit(500)
    breaker.record_answer()
    assert 490 < breaker.seconds_until_trial() <= 500


def test_while_one_call_tries_it_does_not_count_as_well(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "REST_SECONDS", 0.0)
    breaker = CircuitBreaker("almanac")
    for _ in range(3):
        breaker.record_failure()
    assert (breaker.seconds_until_trial(), breaker.admit(50)) == (0, 0)
    assert 40 < CircuitBreaker("almanac").seconds_until_trial() <= 50


def test_a_clock_that_was_set_back_while_one_tried_keeps_nobody_out(
    files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    breaker = CircuitBreaker("almanac")
    for _ in range(3):
        breaker.record_failure()
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 7200)
    assert breaker.admit(50) == 0
    monkeypatch.setattr(time, "time", lambda: now + 3600)
    assert breaker.admit(50) == 0
