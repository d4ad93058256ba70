"""What the Python code of a call has tried that its policy refuses, also where it went on.

Files, programs, networks, processes, signals, kinds of sockets, owners and attributes of files.

Python says of each such attempt before it is made. This tells, and holds nothing: Landlock does that, and says nothing
of it to who has no right to read the system's log. Code that does without Python's functions is not seen here, and code
that wants to can say what it has not tried.
"""

from __future__ import annotations

import os
import sys

from ferrule.confinement.policy import LOOPBACK

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferrule.confinement.policy import Policy

_MAX_ATTEMPTS = 200
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_TRUNC | os.O_CREAT
_READ, _WRITE, _RUN, _CONNECT = "read", "write", "run", "connect"
_FORK, _SIGNAL, _OTHER = "fork", "signal", "other"
_INTERNET = (2, 10)  # families of addresses
_UNIX, _STREAM, _DATAGRAM, _KIND_BITS = 1, 1, 2, 0xF
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
    from ferrule.confinement.refused_network import as_address  # not above: most calls look up no name

    host, port = arguments[0], arguments[1] if len(arguments) > 1 else None
    wanted = as_address(host, port)
    if wanted and _policy is not None and not _policy.network and host not in _WITHOUT_NETWORK:
        _keep(_CONNECT, wanted)


def _note_socket(arguments: tuple[object, ...]) -> None:
    """A socket that is made, or that Python makes an object of: a pair of streams is of the UNIX family, too."""
    family, kind = arguments[1], arguments[2]
    if not isinstance(family, int) or not isinstance(kind, int) or family < 0 or _policy is None:
        return  # of a descriptor, nothing is made
    if family not in (_UNIX, *_INTERNET) or (family in _INTERNET and kind & _KIND_BITS not in (_STREAM, _DATAGRAM)):
        from ferrule.confinement.refused_network import kind_in_words

        _keep(_OTHER, kind_in_words(family, kind))
    elif family in _INTERNET and not _policy.network:
        _keep(_CONNECT, "")


def _note_bind(arguments: tuple[object, ...]) -> None:
    """An address to wait at. Where loopback is granted, what judges addresses tells."""
    address = arguments[1]
    if _policy is None or LOOPBACK in _policy.network or not isinstance(address, tuple) or len(address) < 2:
        return
    from ferrule.confinement.refused_network import WAITING, as_address

    wanted = as_address(address[0] or "0.0.0.0", address[1])  # noqa: S104 - what a socket is bound to without a host
    if wanted:
        _keep(_CONNECT, f"{wanted} {WAITING}")


def _note_fork(_arguments: tuple[object, ...]) -> None:
    if _has_no_processes():
        _keep(_FORK, "")


def _note_signal(arguments: tuple[object, ...]) -> None:
    """A signal to another process, of a call that has no others."""
    if _has_no_processes() and arguments[0] not in (0, os.getpid()):
        _keep(_SIGNAL, "")


def _note_prlimit(arguments: tuple[object, ...]) -> None:
    if arguments[0] not in (0, os.getpid()):
        _keep(_OTHER, "prlimit")


def _has_no_processes() -> bool:
    return _policy is not None and not _policy.processes and not _policy.programs


def _never(name: str) -> Callable[[tuple[object, ...]], None]:
    """What no tool does to any file."""

    def note(arguments: tuple[object, ...]) -> None:
        path = arguments[0]
        path = os.fsdecode(path) if isinstance(path, bytes) else path
        _keep(_OTHER, f"{name} {os.path.abspath(path)}" if isinstance(path, str) else name)

    return note


def _note_library(arguments: tuple[object, ...]) -> None:
    """A library by its path; a name is looked for where everybody may read."""
    if isinstance(arguments[0], str) and arguments[0].startswith("/"):
        _note(_READ, arguments[0])


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
    from ferrule.confinement.policy import readable

    folders = readable(with_others=False)
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
    "socket.bind": _note_bind,
    "socket.sethostname": lambda _: _keep(_OTHER, "sethostname"),
    "os.fork": _note_fork,
    "os.forkpty": _note_fork,
    "os.kill": _note_signal,
    "os.killpg": _note_signal,
    "resource.prlimit": _note_prlimit,
    "ctypes.dlopen": _note_library,
    **{f"os.{name}": _never(name) for name in ("chown", "setxattr", "removexattr")},
    **{name: _of_first(_RUN) for name in ("os.exec", "os.posix_spawn", "subprocess.Popen")},
    "os.system": lambda _: _keep(_RUN, "/bin/sh"),
}


def _refused(kind: str, path: str, policy: Policy) -> list[str]:
    """The path without links, where the policy refuses it and the system would not have; else nothing."""
    from ferrule.confinement import denials

    if kind == _RUN:
        return [] if policy.programs else [path]
    if kind in (_CONNECT, _FORK, _SIGNAL, _OTHER):
        return [path]
    real = os.path.realpath(path)
    if real in _IGNORED or "\0" in real or _BYTE_CODE in real.split("/") or denials.may_write(policy, real):
        return []
    if kind == _READ:
        return [] if denials.may_read(policy, real) or not os.access(real, os.R_OK) else [real]
    place = real if os.path.lexists(real) else os.path.dirname(real)
    return [real] if os.access(place, os.W_OK) else []
