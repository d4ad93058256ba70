"""One process asks, and the others wait for it; whoever dies while it asks lets go at once."""

import multiprocessing
import os
import signal
import time
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from ferrule.wrappers.cache.single_flight import FOLLOWER, LEADER, TIMEOUT, SingleFlight, remove_abandoned
from ferrule_testkit.runs import wait_for

SECONDS = 60.0


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "flights" / ("a" * 64))


def _join(path: str, told: Connection, seconds: float) -> None:
    flight = SingleFlight(path, "the cache's folder")
    told.send("waits")
    told.send(flight.join(seconds))
    told.recv()
    flight.end()


class Joined:
    """A process that joins a flight; once it leads, it does so until it is told to end."""

    def __init__(self, path: str, seconds: float = SECONDS) -> None:
        self.pipe, theirs = multiprocessing.Pipe()
        self.process = multiprocessing.Process(target=_join, args=(path, theirs, seconds), daemon=True)
        self.process.start()
        theirs.close()
        assert self.pipe.recv() == "waits"

    def came(self) -> str:
        assert self.pipe.poll(SECONDS)
        return str(self.pipe.recv())

    def end(self) -> None:
        self.pipe.send("end")
        self.process.join()

    def is_blocked(self) -> bool:
        """Whether it stands in the system's line for a lock."""
        lines = [line.split() for line in Path("/proc/locks").read_text().splitlines()]
        return any(line[1] == "->" and line[5] == str(self.process.pid) for line in lines)


@pytest.mark.process
def test_the_first_leads_and_those_that_come_meanwhile_follow(path: str) -> None:
    leader = Joined(path)
    assert leader.came() == LEADER
    others = [Joined(path) for _ in range(5)]
    for other in others:
        wait_for(other.is_blocked)
    leader.end()
    assert [other.came() for other in others] == [FOLLOWER] * 5
    for other in others:
        other.end()
    assert list(Path(path).parent.iterdir()) == []


def test_after_a_flight_there_is_a_new_one(path: str) -> None:
    for _ in range(3):
        flight = SingleFlight(path, "the cache's folder")
        assert flight.join(0) == LEADER
        flight.end()


def test_flights_of_two_keys_do_not_wait_for_each_other(path: str) -> None:
    one, other = SingleFlight(path, "the cache's folder"), SingleFlight(path[:-1] + "b", "the cache's folder")
    assert (one.join(0), other.join(0)) == (LEADER, LEADER)
    one.end()
    other.end()


@pytest.mark.process
def test_where_the_leader_is_killed_the_next_in_line_leads_at_once(path: str) -> None:
    leader = Joined(path)
    assert leader.came() == LEADER
    others = [Joined(path) for _ in range(3)]
    for other in others:
        wait_for(other.is_blocked)
    os.kill(leader.process.pid or 0, signal.SIGKILL)
    came: list[str] = []
    while len(came) < 3:
        for ready in [other for other in others if other.pipe.poll(0.01) or not other.process.is_alive()]:
            came.append(ready.came())
            ready.end()
            others.remove(ready)
    assert came == [LEADER, FOLLOWER, FOLLOWER]


@pytest.mark.process
def test_nobody_waits_past_the_time(path: str) -> None:
    leader = SingleFlight(path, "the cache's folder")
    assert leader.join(0) == LEADER
    late = Joined(path, 0.05)
    assert late.came() == TIMEOUT
    late.end()
    # The thread of the late one had asked for the lock, and must not keep it from the next.
    leader.end()
    assert SingleFlight(path, "the cache's folder").join(SECONDS) == LEADER


@pytest.mark.process
def test_a_lock_that_comes_too_late_is_let_go(path: str) -> None:
    leader, late = SingleFlight(path, "the cache's folder"), SingleFlight(path, "the cache's folder")
    assert (leader.join(0), late.join(0.01)) == (LEADER, TIMEOUT)
    os.ftruncate(leader._file or 0, 0)
    os.close(leader._file or 0)  # as if it had died: the file stays, and says nothing
    after = Joined(path)
    assert after.came() == LEADER
    after.end()


@pytest.mark.process
def test_whoever_waits_sleeps(path: str) -> None:
    leader = SingleFlight(path, "the cache's folder")
    assert leader.join(0) == LEADER
    waiting = Joined(path)
    wait_for(waiting.is_blocked)
    before = _processor_seconds(waiting.process.pid or 0)
    time.sleep(0.3)
    assert _processor_seconds(waiting.process.pid or 0) == before
    leader.end()
    assert waiting.came() == FOLLOWER
    waiting.end()


@pytest.mark.process
def test_a_process_that_the_tool_leaves_behind_holds_nobody_up(path: str) -> None:
    leader = SingleFlight(path, "the cache's folder")
    assert leader.join(0) == LEADER
    left = multiprocessing.Process(target=time.sleep, args=(SECONDS,), daemon=True)
    left.start()
    try:
        leader.end()
        assert SingleFlight(path, "the cache's folder").join(SECONDS) == LEADER
    finally:
        left.kill()
        left.join()


@pytest.mark.process
def test_a_file_that_was_tidied_away_is_not_led_by_two(path: str) -> None:
    first = SingleFlight(path, "the cache's folder")
    assert first.join(0) == LEADER
    remove_abandoned(path)
    assert Path(path).exists()
    second = Joined(path)
    wait_for(second.is_blocked)
    first.end()
    assert second.came() == FOLLOWER
    second.end()


def test_a_flight_that_was_left_is_tidied_away(path: str) -> None:
    Path(path).parent.mkdir()
    Path(path).touch()
    remove_abandoned(path)
    assert not Path(path).exists()
    remove_abandoned(path)


def test_a_tool_that_has_closed_the_lock_does_no_harm(path: str) -> None:
    leader = SingleFlight(path, "the cache's folder")
    assert leader.join(0) == LEADER
    os.close(leader._file or 0)
    leader.end()
    assert SingleFlight(path, "the cache's folder").join(0) == LEADER


def _processor_seconds(process: int) -> list[str]:
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:13]
