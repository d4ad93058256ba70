"""What the Python code of a call has tried that its policy refuses, also where it went on: files, programs, networks.

Python says of each such attempt before it is made. This tells, and holds nothing: Landlock does that, and says nothing
of it to who has no right to read the system's log. Code that does without Python's functions is not seen here, and code
that wants to can say what it has not tried.
"""

from __future__ import annotations

import os
import sys

from ferrule.confinement.refused_network import as_address

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferrule.confinement.policy import Policy

_MAX_ATTEMPTS = 200
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_TRUNC | os.O_CREAT
_READ, _WRITE, _RUN, _CONNECT = "read", "write", "run", "connect"
_INTERNET = (2, 10)  # families of addresses
_WITHOUT_NETWORK = ("", "localhost")  # names that are found without one
_IGNORED = ("/dev/tty", "/dev/null")
_BYTE_CODE = "__pycache__"  # which each import tries to write

_policy: Policy | None = None
_seen: dict[tuple[str, str], None] = {}
_allowed: tuple[str, ...] | None = None  # beginnings of paths that everybody may read


def watch(policy: Policy) -> None:
    """Note what is tried from now on. policy: what this process is held to."""
    global _policy, _allowed
    if _policy is policy:
        return
    is_watching = _policy is not None
    _policy, _allowed = policy, None
    _seen.clear()
    if not is_watching:
        sys.addaudithook(_take)


def take() -> list[tuple[str, str]]:
    """What was refused since the last time, each as a kind and what it was. Never raises."""
    if not _seen or _policy is None:
        return []
    try:
        tried = list(_seen)
        refused = dict.fromkeys((kind, what) for kind, path in tried for what in _refused(kind, path, _policy))
        if any(kind == _CONNECT and what for kind, what in refused):
            refused.pop((_CONNECT, ""), None)  # the socket for an address that is known
        _seen.clear()
        return list(refused)
    except Exception:  # noqa: BLE001 - a plugin may have replaced whatever this needs, and no call fails for it
        return []


def _take(event: str, arguments: tuple[object, ...]) -> None:
    note = _NOTES.get(event)
    if note is not None:
        note(arguments)


def _note(kind: str, path: object) -> None:
    if isinstance(path, bytes):
        path = os.fsdecode(path)
    if isinstance(path, str):
        _keep(kind, path if path.startswith("/") or kind == _RUN else os.path.abspath(path))


def _keep(kind: str, what: str) -> None:
    if len(_seen) < _MAX_ATTEMPTS:
        _seen[kind, what] = None


def _note_lookup(arguments: tuple[object, ...]) -> None:
    """A name that is looked up, or an address that is taken for one. With a network, what judges addresses tells."""
    host, port = arguments[0], arguments[1] if len(arguments) > 1 else None
    wanted = as_address(host, port)
    if wanted and _policy is not None and not _policy.network and host not in _WITHOUT_NETWORK:
        _keep(_CONNECT, wanted)


def _note_socket(arguments: tuple[object, ...]) -> None:
    if _policy is not None and not _policy.network and arguments[1] in _INTERNET:
        _keep(_CONNECT, "")


def _note_open(arguments: tuple[object, ...]) -> None:
    global _allowed
    path, _, flags = arguments
    kind = _WRITE if isinstance(flags, int) and flags & _WRITING else _READ
    if _allowed is None:
        _allowed = ("/dev/",)  # what is looked at meanwhile
        _allowed = _beginnings()
    if kind == _READ and isinstance(path, str) and path.startswith(_allowed):
        return
    _note(kind, path)


def _beginnings() -> tuple[str, ...]:
    from ferrule.confinement.kernel import system_paths

    folders = system_paths.readable(with_others=False)
    own = () if _policy is None else (*_policy.read, *_policy.write)
    return tuple(dict.fromkeys(folder.rstrip("/") + "/" for folder in (*folders, *own)))


def _of_first(kind: str) -> Callable[[tuple[object, ...]], None]:
    return lambda arguments: _note(kind, arguments[0])


def _note_both(arguments: tuple[object, ...]) -> None:
    _note(_WRITE, arguments[0])
    _note(_WRITE, arguments[1])


_NOTES: dict[str, Callable[[tuple[object, ...]], None]] = {
    "open": _note_open,
    "os.rename": _note_both,
    "os.link": _note_both,
    "os.symlink": lambda arguments: _note(_WRITE, arguments[1]),
    "sqlite3.connect": _of_first(_WRITE),
    **{f"os.{name}": _of_first(_READ) for name in ("listdir", "scandir")},
    **{f"os.{name}": _of_first(_WRITE) for name in ("mkdir", "rmdir", "remove", "truncate")},
    "socket.getaddrinfo": _note_lookup,
    "socket.gethostbyname": _note_lookup,
    "socket.__new__": _note_socket,
    **{name: _of_first(_RUN) for name in ("os.exec", "os.posix_spawn", "subprocess.Popen")},
}


def _refused(kind: str, path: str, policy: Policy) -> list[str]:
    """The path without links, where the policy refuses it and the system would not have; else nothing."""
    from ferrule.confinement import denials

    if kind == _RUN:
        return [] if policy.programs else [path]
    if kind == _CONNECT:
        return [path]
    real = os.path.realpath(path)
    if real in _IGNORED or "\0" in real or _BYTE_CODE in real.split("/") or denials.may_write(policy, real):
        return []
    if kind == _READ:
        return [] if denials.may_read(policy, real) or not os.access(real, os.R_OK) else [real]
    place = real if os.path.lexists(real) else os.path.dirname(real)
    return [real] if os.access(place, os.W_OK) else []
