"""What answers teach about the pace, and how the calls of one key keep it."""

import fcntl
import json
import os
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from email.utils import formatdate
from itertools import pairwise
from pathlib import Path

import platformdirs
import pytest

from ferrule.http import parse_retry_after
from ferrule_websearch.pace import rate_limiter as module
from ferrule_websearch.pace.rate_limit_headers import Window, limits_of, next_turn, windows
from ferrule_websearch.pace.rate_limiter import RateLimiter, TurnTooLate, state_folder

KEY = "s3cret-key-of-the-tests"
LATER = 3600.0  # seconds, more than any test lasts


def header(**values: str) -> dict[str, str]:
    return {f"x-ratelimit-{name}": value for name, value in values.items()}


def soon() -> float:
    return time.monotonic() + LATER


@pytest.fixture
def folder(tmp_path: Path) -> str:
    return str(tmp_path / "state")


def file_of(folder: str) -> Path:
    (file,) = (Path(folder) / "turns").iterdir()
    return file


# ---- headers


def test_all_four_headers_tell_one_story() -> None:
    assert windows(
        header(policy="1;w=1, 15000;w=2592000", limit="1, 15000", remaining="0, 14999", reset="1, 1419704")
    ) == [Window(1, 1.0, 0, 1.0), Window(15000, 2592000.0, 14999, 1419704.0)]


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, []),
        (header(limit=""), []),
        (header(limit="5"), [Window(5, None)]),
        (header(policy=" 20 ; burst=1 ; w=60 "), [Window(20, 60.0)]),
        (header(remaining="3", reset="7"), [Window(None, None, 3, 7.0)]),
        (header(remaining="-1"), [Window(None, None, -1)]),
        (header(policy="x;w=y", limit="1e9", remaining="many", reset="2020-01-01"), [Window(None, None)]),
        (header(limit="1, 2", reset="1"), [Window(1, None, None, 1.0), Window(2, None)]),
        (header(limit="9" * 400), [Window(None, None)]),
    ],
)
def test_what_headers_do_not_say_is_unknown(headers: Mapping[str, str], expected: list[Window]) -> None:
    assert windows(headers) == expected


def test_a_reset_may_be_an_instant() -> None:
    (window,) = windows(header(remaining="0", reset=str(int(time.time()) + 1000)))
    assert window.reset is not None
    assert 900 < window.reset <= 1000
    (window,) = windows(header(remaining="0", reset="1500000000"))
    assert window.reset == 0


def test_a_limit_of_nothing_is_none() -> None:
    assert not Window(0, 2592000.0, 0).is_exhausted
    assert Window(1, 1.0, 0).is_exhausted
    assert not Window(1, 1.0, None).is_exhausted


def test_turns_are_taken_for_short_windows_of_few_requests_alone() -> None:
    told = windows(header(policy="1;w=1, 30;w=60, 1000;w=1, 15000;w=2592000, 0;w=1"))
    assert limits_of(told) == [(1, 1.0), (30, 60.0)]


def test_retry_after_is_a_number_or_a_date() -> None:
    assert parse_retry_after({"retry-after": "7"}) == 7
    assert parse_retry_after({"retry-after": " 1.5 "}) == 1.5
    assert parse_retry_after({}) is None
    assert parse_retry_after({"retry-after": "soon"}) is None
    assert parse_retry_after({"retry-after": formatdate(0, usegmt=True)}) == 0
    in_an_hour = parse_retry_after({"retry-after": formatdate(time.time() + 3600, usegmt=True)})
    assert in_an_hour is not None
    assert 3500 < in_an_hour <= 3600


# ---- the arithmetic


def test_without_a_limit_it_is_always_ones_turn() -> None:
    assert next_turn(100.0, [100.0] * 50, [], 0.0) == 100.0


def test_a_limit_holds_for_any_stretch_of_its_length() -> None:
    for limit, seconds in ((1, 1.0), (3, 1.0), (20, 60.0)):
        taken: list[float] = []
        for _ in range(50):
            taken.append(next_turn(0.0, taken, [(limit, seconds)], 0.0))
        assert taken == sorted(taken)
        assert taken[:limit] == [0.0] * limit
        assert all(later - earlier > seconds for earlier, later in zip(taken, taken[limit:], strict=False))


def test_every_limit_holds() -> None:
    taken: list[float] = []
    for _ in range(10):
        taken.append(next_turn(0.0, taken, [(1, 1.0), (3, 60.0)], 0.0))
    assert all(later - earlier > 1 for earlier, later in pairwise(taken))
    assert all(later - earlier > 60 for earlier, later in zip(taken, taken[3:], strict=False))


def test_nobody_asks_before_the_provider_takes_requests_again() -> None:
    assert next_turn(100.0, [], [], 105.0) == 105.0


# ---- turns


def test_the_first_calls_wait_for_nothing(folder: str) -> None:
    assert [RateLimiter(KEY, folder=folder).acquire(soon()) for _ in range(20)] == [0.0] * 20


def test_a_large_plan_is_not_slowed(folder: str) -> None:
    RateLimiter(KEY, folder=folder).learn([(50, 1.0)])
    assert [RateLimiter(KEY, folder=folder).acquire(soon()) for _ in range(50)] == [0.0] * 50


def test_calls_take_turns_at_the_pace_that_was_learnt(folder: str) -> None:
    RateLimiter(KEY, folder=folder).learn([(1, 1.0)])
    for _ in range(10):
        RateLimiter(KEY, folder=folder).acquire(soon())
    taken = json.loads(file_of(folder).read_bytes())["taken"]
    assert len(taken) == 10
    assert all(later - earlier > 1 for earlier, later in pairwise(taken))


def test_requests_from_before_the_pace_was_known_count(folder: str) -> None:
    RateLimiter(KEY, folder=folder).acquire(soon())
    RateLimiter(KEY, folder=folder).learn([(1, 60.0)])
    assert RateLimiter(KEY, folder=folder).acquire(soon()) > 0


def test_keys_do_not_wait_for_each_other(folder: str) -> None:
    for key in ("one", "two"):
        turns = RateLimiter(key, folder=folder)
        turns.learn([(1, 60.0)])
        assert turns.acquire(soon()) == 0.0


def test_a_turn_after_the_deadline_is_not_taken(folder: str) -> None:
    RateLimiter(KEY, folder=folder).learn([(1, 60.0)])
    RateLimiter(KEY, folder=folder).acquire(soon())
    for _ in range(3):  # the same each time, because none of them is in the line
        with pytest.raises(TurnTooLate) as late:
            RateLimiter(KEY, folder=folder).acquire(time.monotonic() + 30)
        assert 30 < late.value.seconds <= 63
        assert late.value.limits == [(1, 60.0)]


def test_a_pace_is_unlearnt_as_it_was_learnt(folder: str) -> None:
    turns = RateLimiter(KEY, folder=folder)
    turns.learn([(1, 60.0)])
    turns.acquire(soon())
    turns.learn(None)
    assert turns.acquire(soon()) > 0
    turns.learn([])
    assert turns.acquire(soon()) == 0.0


def test_all_calls_wait_where_the_provider_says_so(folder: str) -> None:
    RateLimiter(KEY, folder=folder).learn(None, time.monotonic() + 30)
    assert 0 < RateLimiter(KEY, folder=folder).acquire(soon()) <= 30


@pytest.mark.process
def test_processes_take_turns(folder: str) -> None:
    RateLimiter(KEY, folder=folder).learn([(1, 1.0)])
    program = (
        "import sys; from ferrule_websearch.pace.rate_limiter import RateLimiter\n"
        f"print(RateLimiter({KEY!r}, folder=sys.argv[1]).acquire(10**9))"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", program, folder], stdout=subprocess.PIPE, text=True) for _ in range(6)
    ]
    for process in running:
        process.communicate()
    taken = json.loads(file_of(folder).read_bytes())["taken"]
    assert len(taken) == 6
    assert all(later - earlier > 1 for earlier, later in pairwise(taken))


def test_the_key_stands_nowhere_and_the_file_is_for_its_owner(folder: str) -> None:
    RateLimiter("https://api.example", KEY, folder=folder).learn([(1, 1.0)])
    file = file_of(folder)
    assert KEY not in str(file)
    assert KEY.encode() not in file.read_bytes()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"\0" * 100,
        b"{",
        b"[]",
        b"null",
        b'{"boot": "x", "limits": [], "taken": [], "blocked": 0}',
        b'{"limits": [[1, 60]]}',
        b"x" * 1_000_000,
    ],
)
def test_a_damaged_file_says_nothing(folder: str, damage: bytes) -> None:
    turns = RateLimiter(KEY, folder=folder)
    turns.learn([(1, 60.0)])
    file_of(folder).write_bytes(damage)
    assert [turns.acquire(soon()), turns.acquire(soon())] == [0.0, 0.0]
    turns.learn([(1, 60.0)])
    assert turns.acquire(soon()) > 0  # it is whole again


@pytest.mark.parametrize(
    "facts",
    [
        {"limits": [[1, 60]], "taken": [1e300], "blocked": 0},
        {"limits": [[1, 60]], "taken": [], "blocked": 1e300},
        {"limits": [[1, 1e300]], "taken": [0], "blocked": 0},
        {"limits": [[10**300, 1]], "taken": [0], "blocked": 0},
        {"limits": [[1]], "taken": [0], "blocked": 0},
        {"limits": [[-1, -1]], "taken": [0], "blocked": -5},
        {"limits": {"a": 1}, "taken": [0], "blocked": 0},
        {"limits": [[1, 60]], "taken": 5, "blocked": 0},
    ],
)
def test_nonsense_in_the_file_keeps_nobody_waiting(folder: str, facts: dict[str, object]) -> None:
    turns = RateLimiter(KEY, folder=folder)
    turns.learn([(1, 60.0)])
    boot = json.loads(file_of(folder).read_bytes())["boot"]
    file_of(folder).write_text(json.dumps({"boot": boot, **facts}))
    assert turns.acquire(soon()) == 0.0


def test_what_was_said_before_the_machine_was_started_anew_is_dropped(folder: str) -> None:
    turns = RateLimiter(KEY, folder=folder)
    turns.learn([(1, 60.0)])
    turns.acquire(soon())
    facts = json.loads(file_of(folder).read_bytes())
    file_of(folder).write_text(json.dumps({**facts, "boot": facts["boot"] - 100}))
    assert turns.acquire(soon()) == 0.0


def test_a_folder_that_cannot_be_written_keeps_nobody_from_searching(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for folder in (str(tmp_path / "file"), "/proc/nowhere", "/dev/null/x"):
        turns = RateLimiter(KEY, folder=folder)
        assert turns.acquire(soon()) == 0.0
        turns.learn([(1, 60.0)], time.monotonic() + 30)
        assert 0 < turns.acquire(soon()) <= 30  # this call itself has heard it


def test_something_else_in_the_files_place_keeps_nobody_from_searching(folder: str, tmp_path: Path) -> None:
    turns = RateLimiter(KEY, folder=folder)
    turns.learn([(1, 60.0)])
    file = file_of(folder)
    for make in (os.mkdir, os.mkfifo, lambda path: os.symlink(tmp_path / "elsewhere", path)):
        file.unlink() if not file.is_dir() else file.rmdir()
        make(file)
        assert turns.acquire(soon()) == 0.0
    assert not (tmp_path / "elsewhere").exists()


def test_a_lock_that_is_never_given_back_keeps_nobody_waiting(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LOCK_SECONDS", 0.05)
    turns = RateLimiter(KEY, folder=folder)
    turns.learn([(1, 60.0)])
    with file_of(folder).open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert [turns.acquire(soon()), turns.acquire(soon())] == [0.0, 0.0]


def test_a_lock_that_is_given_back_is_waited_for(folder: str) -> None:
    turns = RateLimiter(KEY, folder=folder)
    turns.learn([(1, 60.0)])
    with file_of(folder).open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        threading.Timer(0.05, fcntl.flock, (held, fcntl.LOCK_UN)).start()
        turns.acquire(soon())
    assert turns.acquire(soon()) > 0


@pytest.mark.slow
@pytest.mark.process
def test_the_file_stays_small(folder: str) -> None:
    turns = RateLimiter(KEY, folder=folder)
    for _ in range(1100):
        turns.acquire(soon())
    assert file_of(folder).stat().st_size < 65_536


@pytest.mark.parametrize("named", [{}, {"XDG_STATE_HOME": "/some/where"}, {"XDG_STATE_HOME": " "}])
def test_the_state_folder_is_the_one_of_platformdirs(named: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FERRULE_STATE", raising=False)
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    for name, value in named.items():
        monkeypatch.setenv(name, value)
    assert state_folder() == platformdirs.user_state_dir("ferrule", appauthor=False)


def test_the_state_folder_can_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FERRULE_STATE", "/some/where/else")
    assert state_folder() == "/some/where/else"
