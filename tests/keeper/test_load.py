"""A keeper under load, and one that has nothing to do."""

import json
import os
import platform
import statistics
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import pytest

from ferrule_testkit.effort import examples
from ferrule_testkit.keeper import Family, LinkedMachine
from ferrule_testkit.runs import wait_for

pytestmark = pytest.mark.process

OSLO = b'{"city": "Oslo"}'
CALLERS = 16
CALLS = max(64, examples(1_000))  # 10,000 at an effort of 10
DEADLINE_SECONDS = 25  # as where nothing else is said
OVERTAKERS = 20 * CALLERS  # that began after a call and end before it, at most: those of a process that gets no turn
ROUND = 128  # calls, after which it is weighed while it warms up
ROUNDS = 12  # in which it has come to own the pages that it needs: three or four do
SETTLED_KIB = 64  # that a round adds or takes then: half a KiB a call that stays would be as much
GROWTH_KIB = 1536  # from then on: 0.2 KiB a call that stays would be 2,000 in 10,000 calls; 20,000 have added 1,000
_LONG_MS = 60_000
_POLL, _PPOLL = "7", "271"  # the numbers of system calls with a time limit


class Weight(NamedTuple):
    """Of all processes of a keeper: open descriptors, and KiB that are not a file's, a shared page in parts."""

    descriptors: int
    kib: int


def weigh(linked: LinkedMachine, keeper: int) -> Weight:
    """Weigh it at a time when it has nothing to do, and none of its processes ends."""
    found: list[Weight] = []

    def look() -> bool:
        if is_busy(linked):
            return False
        try:
            members = Family.of(keeper).members()
            descriptors = sum(len(os.listdir(f"/proc/{one}/fd")) for one in members)
            texts = [Path(f"/proc/{one}/smaps_rollup").read_text() for one in members]
        except (FileNotFoundError, ProcessLookupError):
            return False
        lines = [line for text in texts for line in text.splitlines() if line.startswith("Pss_Anon:")]
        found.append(Weight(descriptors, sum(int(line.split()[1]) for line in lines)))
        return True

    wait_for(look)
    return found[0]


class TimedCall(NamedTuple):
    """One call: whether the answer is its own, and two instants, in seconds."""

    is_right: bool
    began: float
    ended: float

    @property
    def seconds(self) -> float:
        """How long its caller has waited."""
        return self.ended - self.began


def call_many(linked: LinkedMachine, executable: Path, first: int, number: int) -> list[TimedCall]:
    """Have so many calls made by 16 callers, of which each begins one when it has the answer to another."""

    def call(mark: int) -> TimedCall:
        city, began = f"city {mark}", time.monotonic()
        done = linked.run(executable, json.dumps({"city": city}).encode(), FERRULE_DEADLINE=str(DEADLINE_SECONDS))
        ended = time.monotonic()
        is_right = (done.document, done.stderr, done.exit_code) == ({"got": {"city": city}}, b"", 0)
        return TimedCall(is_right, began, ended)

    with ThreadPoolExecutor(CALLERS) as pool:
        return list(pool.map(call, range(first, first + number)))


def warm_up(linked: LinkedMachine, executable: Path, keeper: int) -> tuple[int, Weight]:
    """Have calls made until they change its memory no more; how many, and what it weighs then."""
    weights = [weigh(linked, keeper)]
    for made in range(ROUND, ROUND * (ROUNDS + 1), ROUND):
        assert all(one.is_right for one in call_many(linked, executable, made - ROUND, ROUND))
        weights.append(weigh(linked, keeper))
        if abs(weights[-1].kib - weights[-2].kib) <= SETTLED_KIB:
            return made, weights[-1]
    raise AssertionError(f"its memory does not settle: {weights}")


def count_overtakers(calls: Sequence[TimedCall]) -> int:
    """How many calls, of the call that has the most, began after it and ended before it."""
    most, ended = 0, sorted(calls, key=lambda one: one.ended)
    for index, one in enumerate(ended):
        # What ended before it and began after it is among the last ones that ended: the others ended before it began.
        before = range(index - 1, -1, -1)
        count = 0
        for other in before:
            if ended[other].ended < one.began:
                break
            count += ended[other].began > one.began
        most = max(most, count)
    return most


def report_times(calls: Sequence[TimedCall]) -> str:
    """Milliseconds, and how often a call took what it takes where all wait for the same time."""
    seconds = sorted(one.seconds for one in calls)
    whole = max(one.ended for one in calls) - min(one.began for one in calls)
    fair = whole / len(calls) * CALLERS
    cuts = statistics.quantiles(seconds, n=100, method="inclusive")
    parts = (("p50", cuts[49]), ("p99", cuts[98]), ("most", seconds[-1]))
    return ", ".join(f"{name} {one * 1000:.1f} ms, {one / fair:.2f} of the queue" for name, one in parts)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_many_calls_by_many_callers_are_right_and_in_time_and_leave_it_as_it_was(linked: LinkedMachine) -> None:
    executable = linked.install("alpha")
    family = Family.of(linked.kept.start())
    warm, before = warm_up(linked, executable, family.keeper)
    made = linked.calls()

    calls = call_many(linked, executable, warm, CALLS)

    assert all(one.is_right for one in calls)
    assert [one for one in calls if one.seconds > DEADLINE_SECONDS] == []
    overtakers = count_overtakers(calls)
    print(f"{report_times(calls)}; {overtakers} calls at most began after another one and ended before it")
    assert overtakers <= OVERTAKERS
    after = weigh(linked, family.keeper)
    print(f"{linked.calls() - made} of {CALLS} calls by the keeper; after {warm}: {before}; then: {after}")
    now = Family.of(family.keeper)
    assert (now[:3], len(now.plugins)) == (family[:3], 1)
    assert after.descriptors <= before.descriptors
    assert after.kib <= before.kib + GROWTH_KIB


def is_busy(linked: LinkedMachine) -> bool:
    """Whether a call runs, or what a call has left is still being ended."""
    (state,) = linked.kept.ferrule_keep("status")["keepers"]
    return bool(state["running"]) or state["processes"] > 2


@pytest.mark.slow
@pytest.mark.skipif(
    os.geteuid() != 0 or platform.machine() != "x86_64",
    reason="elsewhere: only root sees what processes wait for, and the numbers are those of x86-64",
)
def test_an_idle_keeper_is_woken_by_nothing(linked: LinkedMachine) -> None:
    """Each of its processes waits in one system call, without a time limit or with that of the idle keeper."""
    executable = linked.install("alpha")
    family = Family.of(linked.kept.start())
    linked.run(executable, OSLO)
    wait_for(lambda: all(map(waits_long, Family.of(family.keeper).members())))
    assert len(Family.of(family.keeper).plugins) == 1


def waits_long(process: int) -> bool:
    """Whether a process waits, and for how long: nothing but an event ends it within a minute."""
    number, *arguments = Path(f"/proc/{process}/syscall").read_text().split()
    if number == "running":
        return False
    if number == _PPOLL:
        return arguments[2] == "0x0"  # no limit
    milliseconds = int(arguments[2], 16) & 0xFFFFFFFF
    return number != _POLL or milliseconds >= _LONG_MS
