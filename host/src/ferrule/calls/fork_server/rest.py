"""What the kernel says of the processes of a tool, and how they are kept from running while no call does.

A plugin's process runs the plugin's code, which can replace all that the process says of itself. So whether it is
copied, and whether a copy takes another call, is decided by what the supervisor reads of it from outside. And whatever
the plugin has left running in it (a thread, a timer, a loop), nothing of it runs between calls: the kernel stops it.
"""

from __future__ import annotations

import os
import select
import signal
import sys
from collections.abc import Collection, Sequence

_ALWAYS_OPEN = ("/dev/null", "anon_inode:seccomp notify", "anon_inode:landlock-ruleset")  # brackets vary by kernel


def name_files(files: Sequence[int]) -> list[str]:
    """What /proc calls the files that are open under these numbers. Of a pipe both ends have one name."""
    try:
        return [os.readlink(f"/proc/self/fd/{file}") for file in files]
    except OSError:
        return []  # a system on which nothing is copied


def runs_alone(process: int) -> bool:
    """Whether it has one thread and no child; False where that cannot be found out."""
    try:
        return len(os.listdir(f"/proc/{process}/task")) == 1 and not children_of(process)
    except OSError:
        return False


def is_alone(process: int, files: Collection[str]) -> bool:
    """Whether it has one thread, no child, and no file open but these; False where that cannot be found out."""
    if not runs_alone(process):
        return False
    try:
        folder = f"/proc/{process}/fd"
        opened = {os.readlink(f"{folder}/{number}") for number in os.listdir(folder)}
        return all(name.replace("[", "").replace("]", "") in _ALWAYS_OPEN for name in opened.difference(files))
    except OSError:
        return False


def shares_memory(process: int) -> bool:
    """Whether it has memory into which all its copies would write; True where that cannot be found out."""
    try:
        with open(f"/proc/{process}/maps", "rb", buffering=0) as file:
            rights = [line.split(None, 2)[1] for line in file.readall().splitlines()]
    except OSError:
        return True
    return not rights or any(right[1:2] == b"w" and right[3:4] == b"s" for right in rights)


def children_of(process: int) -> list[int]:
    """Its children, those that have ended included. Raises OSError where it is gone."""
    found: list[int] = []
    for thread in os.listdir(f"/proc/{process}/task"):
        with open(f"/proc/{process}/task/{thread}/children", "rb", buffering=0) as file:
            found += map(int, file.readall().split())
    return found


def has_other_children(process: int, known: Collection[int] = ()) -> bool:
    """Whether a process runs that is its child and is none of these."""
    try:
        return any(child not in known and _runs(child) for child in children_of(process))
    except OSError:
        return False


def is_child(process: int, parent: int | None) -> bool:
    """Whether a process has this parent: what says so runs beside a plugin's code."""
    fields = _status(process)
    return len(fields) > 1 and int(fields[1]) == parent


def is_any_readable(files: Sequence[int]) -> bool:
    """Whether something waits to be read."""
    poll = select.poll()
    for file in files:
        poll.register(file, select.POLLIN)
    return bool(poll.poll(0))


def pause(process: int | None) -> None:
    """Let nothing in the process run, whatever it does, until `resume`. It can be killed all the same.

    process: a descriptor for it.
    """
    _send(process, signal.SIGSTOP)


def resume(process: int | None) -> None:
    """Let it run."""
    _send(process, signal.SIGCONT)


def _runs(process: int) -> bool:
    return _status(process)[:1] not in ([], [b"Z"], [b"X"])


def _status(process: int) -> list[bytes]:
    """The fields behind the name: the state, the parent, and others. None of one that is gone."""
    try:
        with open(f"/proc/{process}/stat", "rb", buffering=0) as file:
            return file.readall().rpartition(b")")[2].split()
    except OSError:
        return []


def _send(process: int | None, number: int) -> None:
    if process is None or sys.platform != "linux":
        return
    try:
        signal.pidfd_send_signal(process, number)
    except OSError:
        return  # it has ended, which is found elsewhere
