"""What a process gives up for good: capabilities, ever getting new ones, and the shared memory of the machine.

The processes of a call need shared memory for locks between them. They get one of their own, which goes with the call.
"""

from __future__ import annotations

import os

from ferrule.confinement.kernel.system_calls import NUMBERS, call

_DROP_FROM_BOUNDING_SET, _SET_SECURE_BITS, _NO_NEW_PRIVILEGES, _AMBIENT, _CLEAR_ALL = 24, 28, 38, 47, 4
# No capability by being root, by changing the user, by keeping or by raising; each is locked.
_SECURE_BITS = 0b1110_1111
_VERSION = 0x2008_0522
_MAX_CAPABILITIES = 64


def drop() -> None:
    """Give up all capabilities, and the right to get any by starting a program. Raises OSError."""
    prctl = NUMBERS["prctl"]
    call(prctl, _NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    if os.geteuid() == 0:
        _drop_bounding_set()
    _try(prctl, _AMBIENT, _CLEAR_ALL, 0, 0, 0)
    header = _VERSION.to_bytes(4, "little") + bytes(4)
    call(NUMBERS["capset"], header, bytes(24))


def _drop_bounding_set() -> None:
    """Where this process may not even do that, it has no capability with which it could be undone."""
    prctl = NUMBERS["prctl"]
    for capability in range(_MAX_CAPABILITIES):
        if not _try(prctl, _DROP_FROM_BOUNDING_SET, capability, 0, 0, 0):
            break
    _try(prctl, _SET_SECURE_BITS, _SECURE_BITS, 0, 0, 0)


def _try(number: int, *arguments: int) -> bool:
    try:
        call(number, *arguments)
    except OSError:
        return False
    return True


SHARED_MEMORY = "/dev/shm"  # noqa: S108 - nothing is made there but by the call
"""Where libraries put it, and the semaphores of `multiprocessing`."""

_NEW_MOUNTS, _NEW_USER = 0x2_0000, 0x1000_0000
_PRIVATE, _RECURSIVE = 1 << 18, 1 << 14
_NO_PROGRAMS_AND_DEVICES = 2 | 4 | 8
_OPTIONS = b"mode=1777,size=64m\0"


def make_own_shared_memory() -> bool:
    """Put an empty folder in memory instead of SHARED_MEMORY, for this process and what it starts; whether that worked.

    It takes a name space of mounts, which an ordinary user has within one of users; some systems allow it to nobody.
    """
    try:
        _enter_name_space()
        mount = NUMBERS["mount"]
        call(mount, b"none\0", b"/\0", 0, _PRIVATE | _RECURSIVE, 0)
        call(mount, b"none\0", SHARED_MEMORY.encode() + b"\0", b"tmpfs\0", _NO_PROGRAMS_AND_DEVICES, _OPTIONS)
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
