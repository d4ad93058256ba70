"""What all processes take that a process has started, by the kernel's own account."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

_TICKS = os.sysconf("SC_CLK_TCK")


def seconds_below(process: int, without: Collection[int] = ()) -> float:
    """Seconds of a processor that the processes below this one have taken, with those that they have waited for.

    without: processes that do not count, with all below them.
    """
    return sum(sum(map(int, fields[11:15])) for _, fields in _below(process, without)) / _TICKS


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
