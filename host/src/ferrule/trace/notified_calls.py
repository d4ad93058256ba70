"""The system calls of which the kernel tells, and the filter that has it do so."""

from __future__ import annotations

from struct import Struct
from typing import Final

from ferrule.confinement.kernel.filter_program import ALLOW, NOTIFY
from ferrule.confinement.kernel.system_calls import MACHINE, address, buffer, call
from ferrule.confinement.kernel.system_calls import NUMBERS as CONFINED

_TABLE = """
open=2,- openat=257,56 openat2=437,437 creat=85,- execve=59,221 execveat=322,281 connect=42,203 bind=49,200
sendto=44,206 sendmsg=46,211 sendmmsg=307,269 unlink=87,- unlinkat=263,35 rmdir=84,- mkdir=83,- mkdirat=258,34
rename=82,- renameat=264,38 renameat2=316,276 link=86,- linkat=265,37 symlink=88,- symlinkat=266,36 truncate=76,45
mknod=133,- mknodat=259,33 chmod=90,- fchmod=91,52 fchmodat=268,53 fchmodat2=452,452 utime=132,- utimes=235,-
futimesat=261,- utimensat=280,88 fork=57,- vfork=58,- clone=56,220 clone3=435,435 exit_group=231,94
"""
_AUDIT_ARCHITECTURE = 0xC000_00B7 if MACHINE == "aarch64" else 0xC000_003E
_NUMBER_AT, _ARCHITECTURE_AT = 0, 4
_LOAD, _RETURN, _EQUAL = 0x20, 0x06, 0x15
_SET_FILTER, _NEW_LISTENER, _WAIT_KILLABLE = 1, 1 << 3, 1 << 5
_NO_NEW_PRIVILEGES = 38
_step = Struct("<HBBI").pack


def _read() -> dict[int, str]:
    column = 1 if MACHINE == "aarch64" else 0
    rows = (row.partition("=") for row in _TABLE.split())
    numbers = ((name, numbers.split(",")[column]) for name, _, numbers in rows)
    return {int(number): name for name, number in numbers if number != "-"}


NAMES: Final = _read()
"""The calls that are told, by their numbers on this machine."""


def install_listener() -> int:
    """Have the kernel tell of the calls of this process and all that it starts, for good; the listener's descriptor.

    Whoever has the descriptor must answer, or the calls wait. Raises OSError where the kernel cannot do that, or where
    it tells another listener already.
    """
    steps = [
        _step(_LOAD, 0, 0, _ARCHITECTURE_AT),
        _step(_EQUAL, 1, 0, _AUDIT_ARCHITECTURE),
        _step(_RETURN, 0, 0, ALLOW),
    ]
    steps.append(_step(_LOAD, 0, 0, _NUMBER_AT))
    for number in NAMES:
        steps += [_step(_EQUAL, 0, 1, number), _step(_RETURN, 0, 0, NOTIFY)]
    steps.append(_step(_RETURN, 0, 0, ALLOW))
    code = buffer(b"".join(steps))
    program = len(steps).to_bytes(8, "little") + address(code).to_bytes(8, "little")
    call(CONFINED["prctl"], _NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    return call(CONFINED["seccomp"], _SET_FILTER, _NEW_LISTENER | _WAIT_KILLABLE, buffer(program))
