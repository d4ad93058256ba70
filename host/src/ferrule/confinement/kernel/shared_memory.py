"""Shared memory of the call's own, which its processes need for locks between them, and which goes with the call."""

from __future__ import annotations

import os

from ferrule.confinement.kernel.system_calls import NUMBERS, call

FOLDER = "/dev/shm"  # noqa: S108 - nothing is made there but by the call
"""Where libraries put it, and the semaphores of `multiprocessing`."""

_NEW_MOUNTS, _NEW_USER = 0x2_0000, 0x1000_0000
_PRIVATE, _RECURSIVE = 1 << 18, 1 << 14
_NO_PROGRAMS_AND_DEVICES = 2 | 4 | 8
_OPTIONS = b"mode=1777,size=64m\0"


def make_own() -> bool:
    """Put an empty folder in memory instead of FOLDER, for this process and what it starts; whether that worked.

    It takes a name space of mounts, which an ordinary user has within one of users; some systems allow it to nobody.
    """
    try:
        _enter_name_space()
        mount = NUMBERS["mount"]
        call(mount, b"none\0", b"/\0", 0, _PRIVATE | _RECURSIVE, 0)
        call(mount, b"none\0", FOLDER.encode() + b"\0", b"tmpfs\0", _NO_PROGRAMS_AND_DEVICES, _OPTIONS)
    except OSError:
        return False
    return True


def _enter_name_space() -> None:
    if os.geteuid() == 0:
        call(NUMBERS["unshare"], _NEW_MOUNTS)
        return
    user, group = os.geteuid(), os.getegid()
    call(NUMBERS["unshare"], _NEW_MOUNTS | _NEW_USER)
    _write("uid_map", f"{user} {user} 1")
    _write("setgroups", "deny")
    _write("gid_map", f"{group} {group} 1")


def _write(name: str, text: str) -> None:
    with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
        file.write(text)
