"""What a call has left changed in its process, which decides whether the process may take another one.

And what a process that has loaded a plugin has, and its copies would lack or share.

It finds what the kernel and the interpreter know of: threads, processes, descriptors, the working folder, the
environment, signals, limits, memory, and names that stand for another object than before, in the modules of the tool's
package, and in those of the host and of the standard library that every call needs. It does not find what was changed
inside of an object, such as an entry of a dictionary: a tool that may be used again says that this is a cache.

It runs beside a plugin's code, so it holds what it needs.
"""

from __future__ import annotations

import gc
import os
import resource
import signal
import socket
import sys
import time

# `_signal` is `signal` without the enumerations that it makes of the numbers, which take most of the time.
from _signal import getsignal as _getsignal  # type: ignore[import-not-found] # typeshed lacks it
from _signal import pthread_sigmask as _sigmask
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import NamedTuple

from ferrule.supervision import processes

_MAX_GROWTH_BYTES = 64 << 20  # of resident memory, over all calls of a process
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
# Each name that is looked at is a page that a copy of the process may have to itself, so these are those that count.
_STANDARD = ("builtins", "os", "sys", "io", "json", "time", "socket", "threading", "subprocess")
_HOST = (
    "ferrule.calls.execution", "ferrule.supervision.supervisor",
    "ferrule.text.strict_json", "ferrule.plugin.hooks.context", "ferrule.plugin.loader", "ferrule.wrappers.guard",
)  # fmt: skip
_CHANGED_BY_A_FORK = ("threading",)  # in the copy, which has locks of its own
_ADDED_BY_PYTHON = ("__warningregistry__",)
_LIMITS = (resource.RLIMIT_NOFILE, resource.RLIMIT_CPU, resource.RLIMIT_FSIZE, resource.RLIMIT_STACK)
_SIGNALS = sorted(signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP})
_TIMERS = (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF)

_listdir, _fstat, _getcwd, _umask, _waitid, _open, _read, _close = (
    os.listdir, os.fstat, os.getcwd, os.umask, os.waitid, os.open, os.read, os.close
)  # fmt: skip
_any_child = (os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT) if sys.platform == "linux" else ()
_getitimer, _getrlimit = signal.getitimer, resource.getrlimit
_environment = getattr(os.environ, "_data", os.environ)  # the bytes, which need not be decoded to be compared
_id, _len, _dict, _list, _tuple, _map, _set, _int, _zip = id, len, dict, list, tuple, map, set, int, zip
_isinstance = isinstance
_THREADS_SECONDS, _STEP_SECONDS = 0.1, 0.001  # in which the kernel takes a thread off that has ended


class _Names(NamedTuple):
    """The names of a module, and the objects that they stand for, which are held so that none takes another's place."""

    names: tuple[str, ...]
    ids: tuple[int, ...]
    objects: list[object]


class StateCheck:
    """Compares a process with what it was before its first call. module: of the tool."""

    def __init__(self, module: str) -> None:
        """Look at the modules; this may be done in the process that the others are copies of."""
        self._package = module.partition(".")[0]
        self._modules: dict[str, _Names] = {}
        self._count = 0
        self._before: Mapping[str, object] = {}
        self._resident = 0
        self._folder = ""
        self._look_at_modules()

    def begin(self, folder: str = "") -> None:
        """This is how the process is to stay. folder: of its temporary files, which is to stay empty."""
        self._folder = folder
        for name in _CHANGED_BY_A_FORK:
            if name in self._modules:
                self._modules[name] = _names_of(sys.modules[name])
        self._before = self._facts()
        self._resident = _resident_bytes()

    def find_changes(self) -> list[str]:
        """What has changed, in words; empty where nothing has."""
        try:
            facts = self._facts()
            changes = [name for name, value in self._before.items() if facts[name] != value]
            if _resident_bytes() - self._resident > _MAX_GROWTH_BYTES:
                changes.append("memory")
            if self._folder and _listdir(self._folder):
                changes.append("temporary files")
            changes += [f"names in {name}" for name in _list(self._modules) if not self._is_as_before(name)]
            if _len(sys.modules) != self._count:
                self._look_at_modules()
        except BaseException as error:  # noqa: BLE001 - a plugin may have put anything instead of what is asked
            return [f"the check raised {type(error).__name__}"]
        return changes

    def _facts(self) -> dict[str, object]:
        return {fact: look() for fact, look in _FACTS.items()}

    def _look_at_modules(self) -> None:
        """Remember the names of modules that are new."""
        for name, module in _list(sys.modules.items()):
            if name not in self._modules and _isinstance(module, ModuleType) and self._concerns(name):
                self._modules[name] = _names_of(module)
        self._count = _len(sys.modules)

    def _concerns(self, name: str) -> bool:
        return name in _STANDARD or name in _HOST or name.partition(".")[0] == self._package

    def _is_as_before(self, name: str) -> bool:
        before, module = self._modules[name], sys.modules.get(name)
        if module is None:
            return False
        space = module.__dict__
        try:
            # Fast where every object is the same; one that equals another may stand in its place.
            if [*space.values()] == before.objects:
                return True
        except Exception:  # noqa: BLE001, S110 - an object may refuse to be compared; its identity is below
            pass
        now = _names_of(module)
        known = _dict(_zip(before.names, before.ids))
        for key, number in _zip(now.names, now.ids):
            if known.pop(key, number) != number:
                return False
            if key not in before.names and not _is_addition(name, space, key):
                return False
        self._modules[name] = now
        return not known


def _is_addition(module: str, space: Mapping[str, object], name: str) -> bool:
    """Whether a new name in a module is no change of it.

    Such are a module inside of it that was imported, what Python adds, and what the module itself gives for its name
    when that is first asked for (PEP 562), and keeps.
    """
    if name in _ADDED_BY_PYTHON or ("__getattr__" in space and name in space.get("__all__", ())):  # type: ignore[operator] # a list, as Python wants it
        return True
    value = space[name]
    return _isinstance(value, ModuleType) and sys.modules.get(f"{module}.{name}") is value


def _names_of(module: ModuleType) -> _Names:
    space = _dict(module.__dict__)
    objects = [*space.values()]
    return _Names(_tuple(space), _tuple(_map(_id, objects)), objects)


def _resident_bytes() -> int:
    return _int(_content("/proc/self/statm").split()[1]) * _PAGE_BYTES


def _content(path: str) -> bytes:
    file = _open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return _read(file, 4096)
    finally:
        _close(file)


def _files() -> list[tuple[int, int, int]]:
    """Descriptors, each with the file that it is open for."""
    found = []
    for name in _listdir("/proc/self/fd"):
        try:
            status = _fstat(_int(name))
        except OSError:
            continue  # the listing's own
        found.append((_int(name), status.st_dev, status.st_ino))
    return found


def has_children() -> bool:
    """Whether this process has children, those of which it is the parent by adoption included."""
    try:
        _waitid(*_any_child)
    except ChildProcessError:
        return False
    return True


def _working_folder() -> str | None:
    try:
        return _getcwd()
    except OSError:
        return None


def _file_mask() -> int:
    mask = _umask(0o077)
    _umask(mask)
    return mask


def _signals() -> tuple[object, ...]:
    timers = [_getitimer(timer)[1:] for timer in _TIMERS] + [_getitimer(_TIMERS[0])[0] > 0]
    return [_getsignal(number) for number in _SIGNALS], _sigmask(signal.SIG_BLOCK, ()), timers


def _interpreter() -> tuple[object, ...]:
    return (
        _list(sys.path), sys.getrecursionlimit(), sys.gettrace(), sys.getprofile(), gc.isenabled(),
        socket.getdefaulttimeout(), sys.getswitchinterval(),
    )  # fmt: skip


_FACTS: Mapping[str, Callable[[], object]] = {
    "threads": lambda: _len(_listdir("/proc/self/task")),
    "processes": has_children,
    "descriptors": _files,
    "the working folder": _working_folder,
    "the environment": lambda: _dict(_environment),
    "signals": _signals,
    "the file mask": _file_mask,
    "limits": lambda: [_getrlimit(limit) for limit in _LIMITS],
    "the interpreter": _interpreter,
}


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
