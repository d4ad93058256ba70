"""System calls by name, for which Python has no function."""

from __future__ import annotations

import ctypes
import os
import platform

# name: (x86_64, aarch64); None where the architecture has no such call.
NUMBERS: dict[str, tuple[int, int | None]] = {
    "acct": (163, 89), "add_key": (248, 217), "bpf": (321, 280), "capget": (125, 90), "capset": (126, 91), "chroot": (161, 51),
    "clock_nanosleep": (230, 115), "clock_settime": (227, 112), "clone": (56, 220), "clone3": (435, 435), "copy_file_range": (326, 285),
    "delete_module": (176, 106), "execveat": (322, 281), "fanotify_init": (300, 262), "fanotify_mark": (301, 263),
    "finit_module": (313, 273), "fchmodat2": (452, 452), "fork": (57, None), "fsconfig": (431, 431),
    "fsopen": (430, 430), "get_robust_list": (274, 100), "getpid": (39, 172), "init_module": (175, 105), "inotify_add_watch": (254, 27),
    "inotify_init1": (294, 26), "io_uring_setup": (425, 425), "ioperm": (173, None), "iopl": (172, None),
    "ioprio_get": (252, 31), "ioprio_set": (251, 30), "kcmp": (312, 272), "kexec_load": (246, 104), "keyctl": (250, 219),
    "linkat": (265, 37), "memfd_secret": (447, 447), "migrate_pages": (256, 238), "modify_ldt": (154, None),
    "mount": (165, 40), "mount_setattr": (442, 442), "mq_open": (240, 180), "mq_unlink": (241, 181),
    "mq_timedreceive": (243, 183), "msgget": (68, 186), "msgrcv": (70, 188), "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265), "open_tree": (428, 428), "openat2": (437, 437), "perf_event_open": (298, 241),
    "personality": (135, 92), "pidfd_getfd": (438, 438), "pidfd_open": (434, 434), "pidfd_send_signal": (424, 424),
    "pivot_root": (155, 41), "prlimit64": (302, 261), "process_madvise": (440, 440), "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271), "ptrace": (101, 117), "quotactl": (179, 60), "reboot": (169, 142),
    "renameat2": (316, 276), "request_key": (249, 218), "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240), "sched_getattr": (315, 275), "semget": (64, 190), "sendmmsg": (307, 269), "sethostname": (170, 161),
    "setns": (308, 268), "setxattrat": (463, 463), "shmat": (30, 196), "shmctl": (31, 195), "shmget": (29, 194),
    "swapon": (167, 224), "syslog": (103, 116), "tgkill": (234, 131), "timer_create": (222, 107), "tkill": (200, 130), "umount2": (166, 39),
    "unshare": (272, 97), "userfaultfd": (323, 282), "utimensat": (280, 88), "vfork": (58, None),
}  # fmt: skip

AT_FDCWD = -100
_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def number_of(name: str) -> int:
    """The number of a call on this architecture; OSError where it has none."""
    number = NUMBERS[name][platform.machine() in ("aarch64", "arm64")]
    if number is None:
        raise OSError(38, "no such system call here", name)
    return number


def call(name: str, *arguments: object) -> int:
    """Make a system call by its name. Arguments: integers, bytes or ctypes' objects. Raises OSError."""
    return numbered(number_of(name), *arguments, name=name)


def numbered(number: int, *arguments: object, name: str = "") -> int:
    """Make a system call by its number."""
    given = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    done = _libc.syscall(ctypes.c_long(number), *given)
    if done == -1:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error), name or str(number))
    return int(done)


def would_work(name: str, *arguments: object, harmless: tuple[int, ...] = ()) -> str:
    """Make a call that is wrong in a harmless way: the kernel judges the right to it first, and its arguments then.

    harmless: the error numbers that say so. Any other OSError is raised.
    """
    try:
        done = call(name, *arguments)
    except OSError as error:
        if error.errno not in harmless:
            raise
        return f"{name} was let through as far as its arguments: {error.strerror}"
    return f"{name} returned {done}"
