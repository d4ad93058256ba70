"""What a process gives up for good: capabilities, and ever getting new ones."""

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
