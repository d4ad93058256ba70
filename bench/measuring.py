"""What the scripts share: processes timed in pairs, and names on their command lines.

A whole process is timed beside a bare interpreter, so that a ratio holds on any machine.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

_TICKS = os.sysconf("SC_CLK_TCK")


class Cost(NamedTuple):
    """What one run of a process took, its children included: seconds of processor time, and on the wall."""

    cpu: float
    wall: float


class Ratio(NamedTuple):
    """Medians over the pairs of a command's cost to the baseline's of the same pair."""

    cpu: float
    wall: float


class Command(NamedTuple):
    """A program to run, what it reads on stdin, and the environment it needs beside the usual."""

    argv: Sequence[str | Path]
    stdin: bytes = b""
    environ: Mapping[str, str] = {}
    is_alone: bool = False  # has no other variables


def names_among(known: Collection[str]) -> Callable[[str], list[str]]:
    """The `type` of an option of argparse: some of the names that are known, with commas between; "" for all."""

    def names(text: str) -> list[str]:
        chosen = [name.strip() for name in text.split(",")] if text else list(known)
        if unknown := [name for name in chosen if name not in known]:
            raise argparse.ArgumentTypeError(f"{', '.join(unknown)}: there are {', '.join(known)}")
        return chosen

    return names


def compare(command: Command, baseline: Command, *, runs: int = 21) -> Ratio:
    """Run the two in turn, after a run of each that does not count; the medians of the ratios, pair by pair."""
    run(command)
    run(baseline)
    pairs = [(run(command), run(baseline)) for _ in range(runs)]
    return Ratio(
        statistics.median(one.cpu / base.cpu for one, base in pairs),
        statistics.median(one.wall / base.wall for one, base in pairs),
    )


def run(command: Command) -> Cost:
    """Run a command to its end and say what it took, by the system's own account."""
    source, sink = os.pipe()
    os.write(sink, command.stdin)
    os.close(sink)
    started = time.perf_counter()
    process = subprocess.Popen(
        [str(part) for part in command.argv],
        stdin=source,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**({} if command.is_alone else os.environ), **command.environ},
    )
    os.close(source)
    _, _, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - started
    process.returncode = 0  # it has been waited for, which Popen does not know
    return Cost(usage.ru_utime + usage.ru_stime, wall)


def seconds_below(process: int, without: Collection[int] = ()) -> float:
    """Seconds of a processor that the processes below this one have taken, with those that they have waited for.

    without: processes that do not count, with all below them.
    """
    return sum(sum(map(int, fields[11:15])) for _, fields in _below(process, without)) / _TICKS


def seconds_with(process: int) -> float:
    """Seconds of a processor that this process and those below it have taken, with those that they have waited for."""
    own = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, own[11:15])) / _TICKS + seconds_below(process)


def memory_below(process: int, without: Collection[int] = ()) -> float:
    """MiB that the processes below this one hold, each page shared out among those that have it (PSS)."""
    kib = 0
    for one, _ in _below(process, without):
        try:
            lines = Path(f"/proc/{one}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue  # it has ended
        kib += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return kib / 1024


def _below(process: int, without: Collection[int]) -> Iterator[tuple[int, list[str]]]:
    """The processes, each with the fields of its stat behind the name."""
    parents: dict[int, list[int]] = {}
    fields: dict[int, list[str]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                found = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents.setdefault(int(found[1]), []).append(int(entry.name))
            fields[int(entry.name)] = found
    waiting = list(parents.get(process, ()))
    while waiting:
        one = waiting.pop()
        if one not in without:
            yield one, fields[one]
            waiting += parents.get(one, ())
