"""Who is at the other end of a keeper's socket, as the kernel says it: a process that has the same rights, or none."""

from __future__ import annotations

import os
import re
import socket
import struct
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

_CREDENTIALS = struct.Struct("iII")
_LINES = ("Uid", "Gid", "Groups", "CapEff", "CapBnd", "NoNewPrivs", "Seccomp", "Seccomp_filters")
_FIND_LINES = re.compile(f"^({'|'.join(_LINES)}):\t(.*)$", re.MULTILINE)  # of some sixty
_SPACES = ("cgroup", "ipc", "mnt", "net", "pid", "time", "user", "uts")


class Rights(NamedTuple):
    """What decides what a process may do. A call that a keeper makes has the keeper's, so a caller must have the same.

    status: lines of /proc/PID/status. spaces: of names, by their numbers.
    """

    status: Mapping[str, str]
    spaces: tuple[str, ...]


def peer_of(connection: socket.socket) -> tuple[int, int]:
    """The process at the other end, and its user. Raises OSError."""
    data = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    process, user, _ = _CREDENTIALS.unpack(data)
    return process, user


def read_rights(process: int | str = "self") -> Rights:
    """What a process may do. Raises OSError where it has ended."""
    with open(f"/proc/{process}/status", "rb", buffering=0) as file:
        found = dict(_FIND_LINES.findall(file.readall().decode(errors="replace")))
    spaces = tuple(_space(process, name) for name in _SPACES)
    return Rights({name: found.get(name, "").strip() for name in _LINES}, spaces)


def _space(process: int | str, name: str) -> str:
    try:
        return os.readlink(f"/proc/{process}/ns/{name}")
    except FileNotFoundError:
        return ""  # a kernel that has no such space
