"""Plugin of pytest: what the time limit of a test says, and that a busy machine alone does not make it strike.

pytest-timeout has an alarm go off after so many seconds. Where the test and what it has started have used the processor
meanwhile, they are slow and not stuck, and get as much again, up to ten times. Where they have not, the failure says
where each thread of the test is, and where each process is that it has started.
"""

from __future__ import annotations

import faulthandler
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from types import FrameType

_MAX_TIMES = 10
_WORKING_SHARE = 0.025
"""Of the time that is over: what a test uses at least that is not stuck, also where forty others want the processor."""

_STACK_SECONDS = 10.0  # that one process may take to be looked at
_SHOWN_CHARACTERS = 20_000
_TICKS = os.sysconf("SC_CLK_TCK")
_PARENT, _USED = 1, slice(11, 15)  # of /proc/PID/stat, counted from the field behind the name


@pytest.hookimpl(wrapper=True, optionalhook=True)
def pytest_timeout_set_timer(item: pytest.Item, settings: Any) -> Generator[None, object, object]:
    """Look before the alarm fails a test."""
    is_set = yield
    strike = signal.getsignal(signal.SIGALRM)
    if settings.method == "signal" and callable(strike):
        signal.signal(signal.SIGALRM, _Alarm(item, settings.timeout, strike).go_off)
    return is_set


class _Alarm:
    """What happens when a test's time is over. strike: fails the test."""

    def __init__(self, item: pytest.Item, seconds: float, strike: Callable[[int, FrameType | None], object]) -> None:
        self._item = item
        self._seconds = seconds
        self._strike = strike
        self._used = _own_seconds()  # to look at all processes here would take as long as many a test
        self._times = 1

    def go_off(self, number: int, frame: FrameType | None) -> None:
        """Give a test that works more time, and fail any other one."""
        used, before = processor_seconds(), self._used
        # Less than before: what had been used by a process that has ended, and that nobody counts.
        is_working = abs(used - before) >= self._seconds * _WORKING_SHARE
        if is_working and self._times < _MAX_TIMES:
            self._used, self._times = used, self._times + 1
            signal.setitimer(signal.ITIMER_REAL, self._seconds)
            return
        self._item.add_report_section("call", "the time limit", describe())
        self._strike(number, frame)


def _own_seconds() -> float:
    """What this process, and those that it has waited for, have used of the processor."""
    return sum(os.times()[:4])


def processor_seconds() -> float:
    """What this process, all that descend from it, and those of them that have ended, have used of the processor."""
    processes = _stats()
    return sum(sum(map(int, processes[one][_USED])) for one in _family(processes)) / _TICKS


def describe() -> str:
    """Where all threads of this process are, and where each process is that descends from it."""
    processes = _stats()
    return "\n".join([_own_stacks(), *(_describe(one) for one in _family(processes) if one != os.getpid())])


def _own_stacks() -> str:
    with tempfile.TemporaryFile() as file:
        faulthandler.dump_traceback(file)
        file.seek(0)
        return file.read().decode(errors="replace")


def _describe(process: int) -> str:
    """One process: its command, what the kernel says of each thread, and the stacks of an interpreter."""
    folder = Path(f"/proc/{process}")
    command = _read(folder / "cmdline").replace("\0", " ").strip()
    lines = [f"Process {process}: {command or 'has ended, and was not waited for'}"]
    for thread in sorted(folder.glob("task/*")):
        state = _read(thread / "stat").rpartition(")")[2][:2].strip()
        waits = _read(thread / "wchan").strip("0") or "nothing that is known"
        lines.append(
            f"  thread {thread.name}: state {state}, waits in {waits}, system call {_read(thread / 'syscall')}"
        )
    return "\n".join([*lines, _python_stacks(process)] if command else lines)[:_SHOWN_CHARACTERS]


def _python_stacks(process: int) -> str:
    """What py-spy sees, where it is installed, and where this user may look."""
    beside = Path(sys.executable).with_name("py-spy")
    program = str(beside) if beside.exists() else shutil.which("py-spy")
    if program is None:
        return ""
    command = [program, "dump", "--pid", str(process)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_STACK_SECONDS, check=False)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout


def _family(processes: dict[int, list[str]]) -> Iterator[int]:
    """This process, and all that descend from it."""
    waiting = [os.getpid()]
    while waiting:
        one = waiting.pop(0)
        if one in processes:
            yield one
            waiting += [child for child, fields in processes.items() if int(fields[_PARENT]) == one]


def _stats() -> dict[int, list[str]]:
    """The fields of /proc/PID/stat behind the name, of every process that can be read; nothing if there is none."""
    texts = {int(one.name): _read(one / "stat") for one in Path("/proc").glob("[0-9]*")}
    return {process: text.rpartition(")")[2].split() for process, text in texts.items() if text}


def _read(path: Path) -> str:
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return ""
