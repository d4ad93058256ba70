"""How many processes descend from one, and which one a thread belongs to."""

from __future__ import annotations

import os

_DEEP = 1 << 16
_STATUS_BYTES = 1024  # of /proc/PID/status, which begins with what is asked for


def count_descendants(process: int, depth: int = _DEEP) -> int:
    """The number of processes below it, down to a depth; those that have ended and were not waited for included."""
    number, level = 0, [process]
    while level and depth:
        level = [child for one in level for child in children_of(one)]
        number += len(level)
        depth -= 1
    return number


def children_of(process: int) -> list[int]:
    """The processes whose parent it is, those that were not waited for included; none of one that is gone."""
    found: list[int] = []
    try:
        for thread in os.listdir(f"/proc/{process}/task"):
            with open(f"/proc/{process}/task/{thread}/children", "rb", buffering=0) as file:
                found += map(int, file.readall().split())
    except OSError:
        pass  # it has ended
    return found


def find_family(thread: int) -> tuple[int, int]:
    """The process of a thread, and the parent of that; zeros where it has ended."""
    try:
        file = os.open(f"/proc/{thread}/status", os.O_RDONLY | os.O_CLOEXEC)
        try:
            data = os.read(file, _STATUS_BYTES)
        finally:
            os.close(file)
        return _number(data, b"\nTgid:"), _number(data, b"\nPPid:")
    except (OSError, ValueError):
        return 0, 0


def _number(status: bytes, name: bytes) -> int:
    return int(status.partition(name)[2].partition(b"\n")[0])
