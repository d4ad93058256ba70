"""A control group of the kernel for one call: what its processes have in memory together is held, and not watched.

Of version 2 only. Its rule is that a group with processes gives its controllers to no group below it. So the group of a
call lies beside that of this process, below a group that gives the controller of memory already. Nothing is changed
for it in a group that another program may manage; `prepare_groups` is for a server whose own group is delegated to it.
"""

from __future__ import annotations

import itertools
import os
import time

_ROOT = "/sys/fs/cgroup"
_PREFIX = "ferrule-call-"  # of a call's group, before the process that made it and a number
_LEAF = "ferrule-host"
_MANAGED_NAMES = (".service", ".scope")  # of systemd's units, which are delegated where it says so
_MARKS = ("user.delegate", "trusted.delegate")  # extended attributes by which it says so
_MAX_SWEPT = 16
_TRIES, _PAUSE_SECONDS = 5, 0.0002  # a process that was waited for can be in its group for a moment still
_READ_BYTES = 16_384

_numbers = itertools.count(1)
_live: set[MemoryGroup] = set()  # groups of this process
_left: list[str] = []  # those that could not be removed yet


class MemoryGroup:
    """A group with a limit, empty as yet. path: its folder."""

    def __init__(self, path: str, file: int) -> None:
        self.path = path
        self._file = file
        self._limit_mib = 0
        _live.add(self)

    def limit(self, limit_mib: int) -> None:
        """Let its processes have that many MiB in memory together. Raises OSError."""
        if limit_mib != self._limit_mib:
            _write(f"{self.path}/memory.max", str(limit_mib << 20))
            self._limit_mib = limit_mib

    def enter(self) -> None:
        """Put this process into it, with what it starts from now on. Where that fails, the watch goes on."""
        enter_group(self._file)

    def take_file(self) -> int:
        """The descriptor by which a process enters, which becomes the caller's to close."""
        file, self._file = self._file, -1
        return file

    def holds(self, process: int) -> bool:
        """Whether a process is in it."""
        return _group_of(process) == self.path[len(_ROOT) :]

    def has_overflowed(self) -> bool:
        """Whether the kernel has ended its processes because they would have had more than the limit."""
        counts = dict(line.split() for line in _read(f"{self.path}/memory.events").splitlines())
        return int(counts.get("oom_kill", 0)) > 0

    def remove(self) -> None:
        """Remove it, once its processes are gone; where one is not yet, later."""
        if self._file >= 0:
            os.close(self.take_file())
        _live.discard(self)
        for _ in range(_TRIES):
            if _is_removed(self.path):
                return
            time.sleep(_PAUSE_SECONDS)
        _left.append(self.path)


def make_group(limit_mib: int) -> MemoryGroup | None:
    """A group whose processes may have that many MiB in memory together; None where there can be none."""
    parent = find_parent()
    if parent is None:
        return None
    _sweep(parent)
    path = f"{parent}/{_PREFIX}{os.getpid()}-{next(_numbers)}"
    try:
        os.mkdir(path)
    except OSError:
        return None
    try:
        group = MemoryGroup(path, os.open(f"{path}/cgroup.procs", os.O_WRONLY | os.O_CLOEXEC))
    except OSError:
        _is_removed(path)
        return None
    try:
        group.limit(limit_mib)
        _write(f"{path}/memory.oom.group", "1")  # else a call would go on without the program that was ended
        if os.path.exists(f"{path}/memory.swap.max"):
            _write(f"{path}/memory.swap.max", "0")
    except OSError:
        group.remove()
        return None
    return group


def remove_groups() -> None:
    """Remove all groups that this process has made, once their processes are gone."""
    for group in list(_live):
        group.remove()


def enter_group(file: int) -> None:
    """Put this process into a group. file: of `MemoryGroup.take_file`."""
    try:
        os.write(file, b"0")
    except OSError:
        return  # nobody finds it there, and the watch goes on


def find_parent() -> str | None:
    """The folder of the group below which calls can have theirs; None where they cannot."""
    own = _group_of("self")
    if own is None or os.path.basename(own).startswith(_PREFIX):
        return None  # what a call starts is counted with the call
    # What lies beside a group with a limit is not held to that.
    is_limited = _read(f"{_ROOT}{own}/memory.max").strip() not in ("", "max")
    for path in dict.fromkeys((own, own if is_limited else os.path.dirname(own))):
        folder = _ROOT + path.rstrip("/")
        if "memory" in _read(f"{folder}/cgroup.subtree_control").split() and not _is_managed(folder):
            return folder if os.access(f"{folder}/cgroup.procs", os.W_OK) else None
    return None


def prepare_groups() -> bool:
    """Have groups for calls, where this process is alone in a group that is delegated to it; whether there can be some.

    It goes into a leaf of that group, which can then give the controller of memory to others.
    """
    own = _group_of("self")
    if own is None or not _is_delegated(folder := _ROOT + own.rstrip("/")):
        return find_parent() is not None
    leaf = f"{folder}/{_LEAF}"
    try:
        os.makedirs(leaf, exist_ok=True)
        _write(f"{leaf}/cgroup.procs", "0")
        _write(f"{folder}/cgroup.subtree_control", "+memory")
    except OSError:
        _undo(folder, leaf)
        return False
    return True


def _is_delegated(folder: str) -> bool:
    """Whether a group is this process's alone, by whoever made it, and has the controller of memory to give."""
    if not os.path.exists(f"{folder}/cgroup.type") or "memory" not in _read(f"{folder}/cgroup.controllers").split():
        return False  # the first is so of the machine's own root
    if _read(f"{folder}/cgroup.procs").split() != [str(os.getpid())]:
        return False
    return not _is_managed(folder) and os.access(f"{folder}/cgroup.subtree_control", os.W_OK)


def _is_managed(folder: str) -> bool:
    """Whether systemd manages what lies below: a slice, its own root, or a unit that it has delegated to nobody."""
    if folder.endswith(".slice") or os.path.exists(f"{folder}/init.scope"):
        return True
    return folder.endswith(_MANAGED_NAMES) and not _is_marked(folder)


def _is_marked(folder: str) -> bool:
    """Whether systemd says that it has delegated the group of a unit."""
    for name in _MARKS:
        try:
            if os.getxattr(folder, name) == b"1":
                return True
        except OSError:
            continue
    return False


def _undo(folder: str, leaf: str) -> None:
    try:
        _write(f"{folder}/cgroup.procs", "0")
        os.rmdir(leaf)
    except OSError:
        return


def _sweep(parent: str) -> None:
    """Remove groups of processes that were killed, and own ones that could not be removed before; some at a time."""
    _left[:] = [path for path in _left if not _is_removed(path)]
    try:
        names = [name for name in os.listdir(parent) if name.startswith(_PREFIX)]
    except OSError:
        return
    ended = (name for name in names if not os.path.exists(f"/proc/{name[len(_PREFIX) :].partition('-')[0]}"))
    for name in itertools.islice(ended, _MAX_SWEPT):
        _is_removed(f"{parent}/{name}")


def _is_removed(path: str) -> bool:
    """Remove a group, where it has no process; whether it is gone."""
    try:
        os.rmdir(path)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _group_of(process: int | str) -> str | None:
    """The group of a process, as a path below the root; None if there is no version 2."""
    for line in _read(f"/proc/{process}/cgroup").splitlines():
        if line.startswith("0::/"):
            return line[3:]
    return None


def _read(path: str) -> str:
    """What a file of the kernel's says; nothing where it cannot be read."""
    try:
        with open(path, "rb", buffering=0) as file:
            return file.read(_READ_BYTES).decode(errors="replace")
    except OSError:
        return ""


def _write(path: str, text: str) -> None:
    with open(path, "wb", buffering=0) as file:
        file.write(text.encode())
