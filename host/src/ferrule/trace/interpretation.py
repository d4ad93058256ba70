"""System calls as what they touch. Each is looked at before it is made, so a file that is not there is not touched."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from struct import unpack_from
from typing import TYPE_CHECKING

from ferrule.confinement.broker.family import children_of
from ferrule.confinement.broker.program_calls import lift_limit
from ferrule.trace.notified_calls import NAMES

if TYPE_CHECKING:
    from ferrule.confinement.broker.notifications import Notification
    from ferrule.confinement.broker.program_calls import ProgramCalls
    from ferrule.trace.observations import Observations

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_ONLY_A_PLACE = 0o10000000  # O_PATH: neither read nor written
_THREAD = 0x1_0000  # of the flags of clone
_DNS_PORT = 53
_MAX_ADDRESS_BYTES, _MAX_MESSAGE_BYTES, _MAX_MESSAGES = 128, 1024, 4
_MESSAGE_BYTES, _VECTOR_BYTES = 64, 16  # of struct mmsghdr and struct iovec
_HERE = -100

_Place = tuple[int | None, int]  # which arguments are the folder (None: the working folder) and the path
_WRITTEN: dict[str, tuple[_Place, ...]] = {
    "creat": ((None, 0),),
    "unlink": ((None, 0),),
    "rmdir": ((None, 0),),
    "mkdir": ((None, 0),),
    "truncate": ((None, 0),),
    "mknod": ((None, 0),),
    "chmod": ((None, 0),),
    "symlink": ((None, 1),),
    "rename": ((None, 0), (None, 1)),
    "link": ((None, 0), (None, 1)),
    "unlinkat": ((0, 1),),
    "mkdirat": ((0, 1),),
    "mknodat": ((0, 1),),
    "fchmodat": ((0, 1),),
    "fchmodat2": ((0, 1),),
    "utime": ((None, 0),),
    "utimes": ((None, 0),),
    "futimesat": ((0, 1),),
    "utimensat": ((0, 1),),
    "symlinkat": ((1, 2),),
    "renameat": ((0, 1), (2, 3)),
    "renameat2": ((0, 1), (2, 3)),
    "linkat": ((0, 1), (2, 3)),
}
_MADE = ("mkdir", "mkdirat", "mknod", "mknodat", "symlink", "symlinkat", "creat")
_OF_THE_FILE = (
    "truncate", "chmod", "fchmodat", "fchmodat2", "utime", "utimes", "futimesat", "utimensat",
)  # fmt: skip
# The others change the folder that it is in
_CHANGED = ("rename", "renameat", "renameat2", "link", "linkat")  # whose second path need not be there before


class Interpretation:
    """Adds what each call touches to the observations. root: the tool's process. programs: is told of the calls of
    programs, where these are held to something.
    """

    def __init__(self, found: Observations, root: int, programs: ProgramCalls | None = None) -> None:
        self._found = found
        self._root = root
        self._programs = programs
        self._datagrams: dict[tuple[int, int], tuple[str, int]] = {}  # connected, and nothing sent yet
        self._readers: dict[str, Callable[[Notification], None]] = {
            "open": lambda one: self._open(one, one.path(one.arguments[0]), one.arguments[1]),
            "openat": lambda one: self._open(one, one.path(one.arguments[1], one.arguments[0]), one.arguments[2]),
            "openat2": self._open_by_structure,
            "execve": lambda one: self._run(one, one.path(one.arguments[0])),
            "execveat": lambda one: self._run(one, one.path(one.arguments[1], one.arguments[0])),
            "connect": self._connect,
            "bind": self._bind,
            "sendto": self._send,
            "sendmsg": lambda one: self._send_message(one, one.arguments[1], one.arguments[0]),
            "sendmmsg": self._send_messages,
            "fork": self._fork,
            "vfork": self._fork,
            "clone": lambda one: None if one.arguments[0] & _THREAD else self._fork(one),
            "clone3": self._clone,
        }

    def take(self, one: Notification) -> None:
        """Look at one call."""
        name = NAMES.get(one.number, "")
        if self._programs is not None and name in self._programs.methods and one.process != self._root:
            self._programs.methods[name](one.memory, lambda: None, list(one.arguments))
        if name in _WRITTEN:
            self._write(one, name)
        elif name in self._readers:
            self._readers[name](one)

    def _open(self, one: Notification, path: str, flags: int) -> None:
        if not path or flags & _ONLY_A_PLACE:
            return
        if flags & _WRITING and (flags & os.O_CREAT or os.path.lexists(path)):
            if not os.path.exists(path):
                self._found.folders[os.path.dirname(os.path.realpath(path))] = None
            self._found.written[os.path.realpath(path)] = None
        elif os.path.lexists(path):
            self._found.read[self._real(one, path)] = None

    def _open_by_structure(self, one: Notification) -> None:
        flags = int.from_bytes(one.read(one.arguments[2], 8), "little")
        self._open(one, one.path(one.arguments[1], one.arguments[0]), flags)

    def _write(self, one: Notification, name: str) -> None:
        for index, (folder, place) in enumerate(_WRITTEN[name]):
            where = _HERE if folder is None else one.arguments[folder]
            path = one.path(one.arguments[place], where)
            is_new = name in _MADE or (name in _CHANGED and index == 1)
            if path and (is_new or os.path.lexists(path)):
                # A link itself is changed, not what it leads to.
                parent, last = os.path.split(path)
                self._found.written[os.path.join(os.path.realpath(parent), last)] = None
                if name not in _OF_THE_FILE:
                    self._found.folders[os.path.realpath(parent)] = None

    def _run(self, one: Notification, path: str) -> None:
        if path and os.path.isfile(path) and os.access(path, os.X_OK):
            lift_limit(one.thread)
            self._found.programs[path] = None
            self._found.copies.add_program(one.process, one.parent)

    def _fork(self, one: Notification) -> None:
        programs = self._found.copies.programs
        alive = [process for process in _descendants(self._root) if process not in programs]
        self._found.copies.add_fork(one.process, len(alive))

    def _clone(self, one: Notification) -> None:
        if not int.from_bytes(one.read(one.arguments[0], 8), "little") & _THREAD:
            self._fork(one)

    def _connect(self, one: Notification) -> None:
        found = _address(one, one.arguments[1], one.arguments[2])
        descriptor = one.arguments[0] & 0xFFFF_FFFF
        if isinstance(found, str):
            self._add_socket(one, found)
        elif found is not None and one.is_datagram(descriptor):
            self._datagrams[one.process, descriptor] = found  # resolvers connect to try a route, and send nothing
        elif found is not None:
            self._found.add_connection(*found, "tcp")

    def _bind(self, one: Notification) -> None:
        found = _address(one, one.arguments[1], one.arguments[2])
        if isinstance(found, str):
            self._found.written[one.absolute(found)] = None
        elif found is not None and found[1]:
            self._found.listened[f"{found[0]}:{found[1]}"] = None

    def _add_socket(self, one: Notification, path: str) -> None:
        if path.startswith("@"):
            self._found.sockets[path] = None
        elif (whole := one.absolute(path)) and os.path.lexists(whole):
            self._found.sockets[whole] = None

    def _send(self, one: Notification) -> None:
        found = _address(one, one.arguments[4], one.arguments[5]) if one.arguments[4] else None
        data = one.read(one.arguments[1], min(one.arguments[2], _MAX_MESSAGE_BYTES))
        self._add_datagram(one, found, data, one.arguments[0])

    def _send_message(self, one: Notification, address: int, descriptor: int) -> None:
        head = one.read(address, _MESSAGE_BYTES)
        if len(head) < _MESSAGE_BYTES:
            return
        name, size, _, vectors, count = unpack_from("<QIIQQ", head)
        found = _address(one, name, size) if name else None
        vector = one.read(vectors, _VECTOR_BYTES) if count else b""
        data = b""
        if len(vector) == _VECTOR_BYTES:
            base, length = unpack_from("<QQ", vector)
            data = one.read(base, min(length, _MAX_MESSAGE_BYTES))
        self._add_datagram(one, found, data, descriptor)

    def _send_messages(self, one: Notification) -> None:
        for index in range(min(one.arguments[2] & 0xFFFF_FFFF, _MAX_MESSAGES)):
            self._send_message(one, one.arguments[1] + index * _MESSAGE_BYTES, one.arguments[0])

    def _add_datagram(
        self, one: Notification, found: tuple[str, int] | str | None, data: bytes, descriptor: int
    ) -> None:
        if isinstance(found, str):
            return self._add_socket(one, found)
        target = found or self._datagrams.get((one.process, descriptor & 0xFFFF_FFFF))
        if target is None:
            return None
        if target[1] == _DNS_PORT and (name := question_of(data)):
            self._found.add_name(name)
        elif target[1]:
            self._found.add_connection(*target, "udp")
        return None

    def _real(self, one: Notification, path: str) -> str:
        own = f"/proc/{one.process}"
        return "/proc/self" + path[len(own) :] if path == own or path.startswith(own + "/") else os.path.realpath(path)


def question_of(data: bytes) -> str:
    """The name that a DNS query asks for; empty for anything else."""
    labels, place = [], 12
    while place < len(data) and 0 < data[place] < 64:
        labels.append(data[place + 1 : place + 1 + data[place]])
        place += 1 + data[place]
    if not labels or place >= len(data) or data[place] != 0:
        return ""
    name = b".".join(labels)
    return name.decode() if name.isascii() and name.decode().isprintable() else ""


def _address(one: Notification, address: int, size: int) -> tuple[str, int] | str | None:
    """IP address and port; the path of a UNIX socket, which begins with `@` where it is abstract; None for others."""
    data = one.read(address, min(size & 0xFFFF_FFFF, _MAX_ADDRESS_BYTES))
    if len(data) < 2:
        return None
    family = int.from_bytes(data[:2], "little")
    if family == socket.AF_INET and len(data) >= 8:
        return socket.inet_ntop(family, data[4:8]), int.from_bytes(data[2:4], "big")
    if family == socket.AF_INET6 and len(data) >= 24:
        return socket.inet_ntop(family, data[8:24]), int.from_bytes(data[2:4], "big")
    if family == socket.AF_UNIX and len(data) > 2:
        is_abstract = data[2:3] == b"\0"
        name = data[3:] if is_abstract else data[2:].partition(b"\0")[0]
        return "@" * is_abstract + os.fsdecode(name)
    return None


def _descendants(root: int) -> list[int]:
    """The processes that descend from one, as far as they have not been waited for."""
    found: list[int] = []
    waiting = [root]
    while waiting:
        children = children_of(waiting.pop())
        found += children
        waiting += children
    return found
