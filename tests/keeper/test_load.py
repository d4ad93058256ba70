"""A keeper under load, and one that has nothing to do."""

import json
import os
import platform
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ferrule_testkit.effort import examples
from ferrule_testkit.keeper import Family, LinkedMachine
from ferrule_testkit.runs import wait_for

pytestmark = pytest.mark.process

OSLO = b'{"city": "Oslo"}'
CALLERS = 16
CALLS = max(64, examples(1_000))  # 10,000 at an effort of 10
_LONG_MS = 60_000
_POLL, _PPOLL = "7", "271"  # the numbers of system calls with a time limit


def weigh(family: Family) -> tuple[int, int]:
    """How many descriptors its processes have, and their share of memory in KiB."""
    descriptors = sum(len(os.listdir(f"/proc/{one}/fd")) for one in family.members())
    lines = [
        line
        for one in family.members()
        for line in Path(f"/proc/{one}/smaps_rollup").read_text().splitlines()
        if line.startswith("Pss:")
    ]
    return descriptors, sum(int(line.split()[1]) for line in lines)


def call_many(linked: LinkedMachine, executable: Path, first: int, number: int) -> list[int]:
    """Have so many calls made by 16 callers; the numbers of those whose answer is not theirs."""

    def call(mark: int) -> bool:
        city = f"city {mark}"
        done = linked.run(executable, json.dumps({"city": city}).encode())
        return (done.document, done.stderr, done.exit_code) == ({"got": {"city": city}}, b"", 0)

    marks = range(first, first + number)
    with ThreadPoolExecutor(CALLERS) as pool:
        return [mark for mark, is_right in zip(marks, pool.map(call, marks), strict=True) if not is_right]


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_many_calls_by_many_callers_are_right_and_leave_it_as_it_was(linked: LinkedMachine) -> None:
    executable = linked.install("alpha")
    family = Family.of(linked.kept.start())
    assert call_many(linked, executable, 0, CALLS // 4) == []  # after which it has the room that it needs
    wait_for(lambda: not is_busy(linked))
    before, made = weigh(Family.of(family.keeper)), linked.calls()

    assert call_many(linked, executable, CALLS // 4, CALLS) == []

    wait_for(lambda: not is_busy(linked))
    after = weigh(Family.of(family.keeper))
    print(f"{linked.calls() - made} of {CALLS} calls by the keeper; descriptors, KiB: {before} before, {after} after")
    assert Family.of(family.keeper)[:3] == family[:3]
    assert after[0] <= before[0]
    assert after[1] <= before[1] * 1.05 + 512


def is_busy(linked: LinkedMachine) -> bool:
    """Whether a call runs, or what a call has left is still being ended."""
    (state,) = linked.kept.ferrule_keep("status")["keepers"]
    return bool(state["running"]) or state["processes"] > 2


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
