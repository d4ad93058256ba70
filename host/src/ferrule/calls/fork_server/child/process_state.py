"""What a process that has loaded a plugin has, and its copies would lack or share."""

from __future__ import annotations

import os
import time

from ferrule.supervision import processes

_THREADS_SECONDS, _STEP_SECONDS = 0.1, 0.001  # in which the kernel takes a thread off that has ended


def can_be_copied(known: set[int]) -> bool:
    """Whether a fork would lack or share nothing. known: files that may be open."""
    return not has_threads() and is_bare(known)


def has_threads() -> bool:
    """Whether there is more than one, as far as that can be found out."""
    try:
        return len(os.listdir("/proc/self/task")) != 1
    except Exception:  # noqa: BLE001 - a plugin may have put anything instead of what was asked
        return True


def await_end_of_threads() -> None:
    """Wait a moment for threads that have ended: they are listed until the kernel has taken them off."""
    limit = time.monotonic() + _THREADS_SECONDS
    while has_threads() and time.monotonic() < limit:
        time.sleep(_STEP_SECONDS)


def is_bare(known: set[int]) -> bool:
    """Whether there are no children, no open files but these, and no memory or locks into which forks would write."""
    try:
        return not processes.children() and open_files() <= known and not _shares_memory()
    except Exception:  # noqa: BLE001 - as above
        return False


def open_files() -> set[int]:
    """The numbers of the files that are open."""
    return {file for file in map(int, os.listdir("/proc/self/fd")) if _is_open(file)}


def _is_open(file: int) -> bool:
    try:
        os.fstat(file)
    except OSError:
        return False  # the listing's own
    return True


def _shares_memory() -> bool:
    with open("/proc/self/maps", "rb", buffering=0) as file:
        rights = [line.split(None, 2)[1] for line in file.readall().splitlines()]
    return any(right[1:2] == b"w" and right[3:4] == b"s" for right in rights)
