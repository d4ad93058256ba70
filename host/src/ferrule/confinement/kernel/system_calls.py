"""System calls for which Python has no function, through what ctypes itself is made of, and their numbers.

Importing all of ctypes takes a fifth of an interpreter's start, and `_ctypes` a twentieth.
"""

from __future__ import annotations

import os
import sys
from _ctypes import (
    FUNCFLAG_CDECL,
    FUNCFLAG_USE_ERRNO,
    Array,
    CFuncPtr,
    _SimpleCData,
    addressof,
    dlopen,
    dlsym,
    get_errno,
)

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Final


class _Long(_SimpleCData):  # type: ignore[type-arg] # ctypes makes the type from _type_
    _type_ = "l"


class _Word(_SimpleCData):  # type: ignore[type-arg] # ctypes makes the type from _type_
    _type_ = "L"


class _Byte(_SimpleCData):  # type: ignore[type-arg] # ctypes makes the type from _type_
    _type_ = "c"


class _Function(CFuncPtr):
    _flags_ = FUNCFLAG_CDECL | FUNCFLAG_USE_ERRNO
    _restype_ = _Long


_call = _Function(dlsym(dlopen(None, 0), "syscall"))  # type: ignore[arg-type] # typeshed wants a name
_lengths: dict[int, type] = {}
_MAX_INT = 1 << 31  # above which a number would be cut to it

# The two architectures for which the numbers are known: of `clone` and its like, and as a filter sees them.
MACHINE: Final = os.uname().machine if sys.platform == "linux" else ""
IS_KNOWN = MACHINE in ("x86_64", "aarch64") and sys.maxsize > 1 << 32

# Each with its number on x86-64 and on AArch64; - if there is no such call.
_TABLE = """
bpf=321,280 perf_event_open=298,241 userfaultfd=323,282 ptrace=101,117 process_vm_readv=310,270
process_vm_writev=311,271 process_madvise=440,440 process_mrelease=448,448 pidfd_getfd=438,438 kcmp=312,272
keyctl=250,219 add_key=248,217 request_key=249,218 mount=165,40 umount2=166,39 move_mount=429,429 fsopen=430,430
fsconfig=431,431 fsmount=432,432 fspick=433,433 open_tree=428,428 mount_setattr=442,442 statmount=457,457
listmount=458,458 unshare=272,97 setns=308,268 pivot_root=155,41 chroot=161,51 kexec_load=246,104
kexec_file_load=320,294 init_module=175,105 finit_module=313,273 delete_module=176,106 reboot=169,142 swapon=167,224
swapoff=168,225 quotactl=179,60 quotactl_fd=443,443 acct=163,89 settimeofday=164,170 clock_settime=227,112
clock_adjtime=305,266 adjtimex=159,171 sethostname=170,161 setdomainname=171,162 shmget=29,194 shmat=30,196
shmctl=31,195 shmdt=67,197 msgget=68,186 msgsnd=69,189 msgrcv=70,188 msgctl=71,187 semget=64,190 semop=65,193
semctl=66,191 semtimedop=220,192 mq_open=240,180 mq_unlink=241,181 fanotify_init=300,262 fanotify_mark=301,263
inotify_init=253,- inotify_init1=294,26 inotify_add_watch=254,27 chown=92,- fchown=93,55 lchown=94,- fchownat=260,54
setxattr=188,5 lsetxattr=189,6 fsetxattr=190,7 removexattr=197,14 lremovexattr=198,15 fremovexattr=199,16 iopl=172,-
ioperm=173,- modify_ldt=154,- personality=135,92 lookup_dcookie=212,18 nfsservctl=180,42 vhangup=153,58
syslog=103,116 uselib=134,- name_to_handle_at=303,264 open_by_handle_at=304,265 migrate_pages=256,238
move_pages=279,239 lsm_set_self_attr=460,460 rt_sigqueueinfo=129,138 rt_tgsigqueueinfo=297,240 uprobe=336,-
uretprobe=335,- io_uring_setup=425,425 io_uring_enter=426,426 io_uring_register=427,427 clone3=435,435 clone=56,220
fork=57,- vfork=58,- execve=59,221 execveat=322,281 memfd_create=319,279 memfd_secret=447,447 socket=41,198
socketpair=53,199 connect=42,203 bind=49,200 listen=50,201 accept=43,202 accept4=288,242 sendto=44,206
sendmsg=46,211 sendmmsg=307,269 setsockopt=54,208 ioctl=16,29 fcntl=72,25 prctl=157,167 seccomp=317,277
prlimit64=302,261 setpriority=141,140 ioprio_set=251,30 sched_setaffinity=203,122 sched_setscheduler=144,119
sched_setparam=142,118 sched_setattr=314,274 kill=62,129 tkill=200,130 tgkill=234,131 chmod=90,- fchmod=91,52
fchmodat=268,53 fchmodat2=452,452 utime=132,- utimes=235,- futimesat=261,- utimensat=280,88 getxattr=191,8
lgetxattr=192,9 listxattr=194,11 llistxattr=195,12
landlock_create_ruleset=444,444 landlock_add_rule=445,445 landlock_restrict_self=446,446 capset=126,91
pidfd_open=434,434 pidfd_send_signal=424,424 getsockopt=55,209 getsockname=51,204 shutdown=48,210
open=2,- openat=257,56 openat2=437,437 creat=85,- truncate=76,45 mkdir=83,- mkdirat=258,34 unlink=87,- unlinkat=263,35
rmdir=84,- rename=82,- renameat=264,38 renameat2=316,276 link=86,- linkat=265,37 symlink=88,- symlinkat=266,36
mknod=133,- mknodat=259,33 exit_group=231,94 getsid=124,156 getpgid=121,155 sched_getscheduler=145,120
sched_getparam=143,121 sched_getattr=315,275 sched_rr_get_interval=148,127 sched_getaffinity=204,123
get_robust_list=274,100 getpriority=140,141 ioprio_get=252,31 clock_gettime=228,113 clock_getres=229,114
clock_nanosleep=230,115 timer_create=222,107 capget=125,90 brk=12,214 set_tid_address=218,96
"""
NAMING = {
    "getsid": 0, "getpgid": 0, "sched_getscheduler": 0, "sched_getparam": 0, "sched_getattr": 0,
    "sched_rr_get_interval": 0, "sched_getaffinity": 0, "get_robust_list": 0, "pidfd_open": 0, "getpriority": 1,
    "ioprio_get": 1,
}  # fmt: skip
"""Calls that ask for facts of a process, with the place of its number among the arguments."""
CLOCKS = ("clock_gettime", "clock_getres", "clock_nanosleep", "timer_create")
"""Calls whose first argument is a clock, which may be the processor's time of a process."""
_COLUMN = 1 if MACHINE == "aarch64" else 0

LAST = 462
"""Of the calls that the filter's rules have taken into account. Later ones are answered as if there were none."""


def _read() -> dict[str, int]:
    rows = (row.partition("=") for row in _TABLE.split())
    numbers = ((name, numbers.split(",")[_COLUMN]) for name, _, numbers in rows)
    return {name: int(number) for name, number in numbers if number != "-"}


NUMBERS: Final = _read()


def buffer(data: bytes) -> Array[_Byte]:
    """Memory that the kernel reads or writes, with its first content."""
    size = len(data)
    kind = _lengths.get(size)
    if kind is None:
        kind = _lengths[size] = type("_Buffer", (Array,), {"_type_": _Byte, "_length_": size})
    memory: Array[_Byte] = kind()
    memoryview(memory).cast("B")[:] = data
    return memory


def address(memory: Array[_Byte]) -> int:
    """Where it is."""
    return addressof(memory)


def call(number: int, *arguments: int | bytes | Array[_Byte] | None) -> int:
    """Make a system call; what it returns. An argument is a number, memory, or bytes that are only read.

    Raises OSError.
    """
    value = int(_call(number, *map(_argument, arguments)))
    if value == -1:
        error = get_errno()
        raise OSError(error, os.strerror(error))
    return value


def _argument(value: int | bytes | Array[_Byte] | None) -> _Word | bytes | int:
    if isinstance(value, bytes):
        return value
    if isinstance(value, int):
        return value if -_MAX_INT <= value < _MAX_INT else _Word(value)
    return 0 if value is None else _Word(addressof(value))
