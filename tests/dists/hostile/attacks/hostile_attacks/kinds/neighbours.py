"""What the kernel tells, and would change, of a process that is named by its number: a neighbour of the same user."""

from __future__ import annotations

import ctypes
import fcntl
import os
import struct
import time

from ..system_calls import call
from ..table import STOLEN, WORD, NothingFound, attack

_BY_GROUP, _BY_USER = 2, 3  # of the calls on the priority of the disk
_PIDFD_INFO_BYTES = 64
_GET_INFO = 0xC000_FF0B | _PIDFD_INFO_BYTES << 16
_SHARE_CORE, _TO_OTHERS, _OF_PROCESS = 62, 2, 1
_TOLD = ("stat", "statm", "status", "io", "sched", "schedstat", "limits", "wchan", "syscall", "stack", "personality")
_NAMED = ("maps", "smaps_rollup", "numa_maps", "auxv", "mountinfo", "mountstats", "cgroup", "comm", "timers", "net/tcp")


@attack(WORD)
def session_of_a_neighbour(scene):
    """Asks which session a process belongs to."""
    return str(os.getsid(scene["victim"]))


@attack(WORD)
def group_of_a_neighbour(scene):
    """Asks which group a process belongs to."""
    return str(os.getpgid(scene["victim"]))


@attack(WORD)
def scheduler_of_a_neighbour_read(scene):
    """Asks how a process is scheduled."""
    return str(os.sched_getscheduler(scene["victim"]))


@attack(WORD)
def scheduling_of_a_neighbour_read(scene):
    """Asks with which parameter a process is scheduled."""
    return str(os.sched_getparam(scene["victim"]))


@attack(WORD)
def scheduling_of_a_neighbour_in_full(scene):
    """Asks for all attributes with which a process is scheduled."""
    attributes = ctypes.create_string_buffer(56)
    call("sched_getattr", scene["victim"], attributes, 56, 0)
    return attributes.raw.hex()


@attack(WORD)
def time_slice_of_a_neighbour(scene):
    """Asks for how long a process runs at a time."""
    return str(os.sched_rr_get_interval(scene["victim"]))


@attack(WORD)
def processors_of_a_neighbour_read(scene):
    """Asks on which processors a process may run."""
    return str(os.sched_getaffinity(scene["victim"]))


@attack(WORD)
def priority_of_a_neighbour_read(scene):
    """Asks for the priority of a process."""
    return str(os.getpriority(os.PRIO_PROCESS, scene["victim"]))


@attack(WORD)
def priority_of_a_group_read(scene):
    """Asks for the highest priority in a group of processes."""
    return str(os.getpriority(os.PRIO_PGRP, scene["victim"]))


@attack(WORD)
def priority_of_the_user_read(scene):
    """Asks for the highest priority that a process of the user has."""
    return str(os.getpriority(os.PRIO_USER, 0))


@attack(WORD)
def disk_priority_of_a_neighbour_read(scene):
    """Asks with which priority a process reads from the disk."""
    return str(call("ioprio_get", 1, scene["victim"]))


@attack(WORD)
def disk_priority_of_a_group_read(scene):
    """Asks with which priority a group of processes reads from the disk."""
    return str(call("ioprio_get", _BY_GROUP, scene["victim"]))


@attack(WORD)
def disk_priority_of_the_user_read(scene):
    """Asks with which priority the processes of the user read from the disk."""
    return str(call("ioprio_get", _BY_USER, os.getuid()))


@attack(WORD)
def limits_of_a_neighbour_read(scene):
    """Asks for the limits of a process."""
    limits = (ctypes.c_uint64 * 2)()
    call("prlimit64", scene["victim"], 7, 0, limits)
    return str(list(limits))


@attack(WORD)
def locks_of_a_neighbour(scene):
    """Asks where in its memory a process keeps its list of locks."""
    place, size = ctypes.c_uint64(), ctypes.c_uint64()
    call("get_robust_list", scene["victim"], ctypes.byref(place), ctypes.byref(size))
    return hex(place.value)


@attack(WORD)
def capabilities_of_a_neighbour(scene):
    """Asks which capabilities a process has."""
    data = (ctypes.c_uint32 * 6)()
    call("capget", (ctypes.c_uint32 * 2)(0x20080522, scene["victim"]), data)
    return str(list(data))


@attack(WORD)
def time_of_a_neighbour(scene):
    """Reads how much of the processor's time a process has used, by which one can tell what it does."""
    return str(time.clock_gettime(_clock(scene)))


@attack(WORD)
def clock_of_a_neighbour(scene):
    """Asks whether there is a clock of a process."""
    return str(time.clock_getres(_clock(scene)))


@attack(WORD)
def timer_on_a_neighbour(scene):
    """Has itself told when a process has used so much of the processor's time."""
    timer = ctypes.c_int()
    call("timer_create", _clock(scene), 0, ctypes.byref(timer))
    return str(timer.value)


@attack(WORD)
def wait_on_the_time_of_a_neighbour(scene):
    """Waits until a process has used so much of the processor's time; it has."""
    call("clock_nanosleep", _clock(scene), 1, (ctypes.c_int64 * 2)(0, 1), 0)
    return "it has"


@attack(WORD)
def descriptor_of_a_neighbour_kept(scene):
    """Takes a descriptor of a process, by which it is known when it ends."""
    return str(os.pidfd_open(scene["victim"]))


@attack(WORD)
def facts_by_a_descriptor_of_a_neighbour(scene):
    """Asks a descriptor of a process for its parent, its users and its control group."""
    information = bytearray(struct.pack("<Q", 7).ljust(_PIDFD_INFO_BYTES, b"\0"))
    fcntl.ioctl(os.pidfd_open(scene["victim"]), _GET_INFO, information)
    return information.hex()


@attack(STOLEN)
def memory_of_a_neighbour_by_process_vm_readv(scene):
    """Reads the memory of another process by the system call that is made for it."""
    from .keys import _find, _range_of, _read_by_system_call

    start, end = _range_of(os.getpid(), "[stack]")
    return _find(_read_by_system_call(scene["victim"], start, end - start))


@attack(WORD)
def core_shared_with_a_neighbour(scene):
    """Has a process run on one core with itself, where it can be listened to."""
    if ctypes.CDLL(None, use_errno=True).prctl(_SHARE_CORE, _TO_OTHERS, scene["victim"], _OF_PROCESS, 0):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return "shared"


@attack(WORD)
def files_on_a_neighbour(scene):
    """Reads each file that /proc has on a process."""
    loot, last = [], None
    for name in (*_TOLD, *_NAMED):
        try:
            with open(f"/proc/{scene['victim']}/{name}", "rb") as file:
                loot.append(f"{name}: {file.read()[:20]!r}")
        except OSError as error:
            last = error
    if not loot and last:
        raise last
    return " ".join(loot)


@attack(WORD)
def existence_of_a_neighbour_in_proc(scene):
    """Looks whether there is a folder on a process, and whose it is, which opens nothing."""
    return str(os.stat(f"/proc/{scene['victim']}").st_uid)


@attack(WORD)
def mounts_of_the_machine(scene):
    """Reads which file systems the machine has mounted, and from where."""
    with open("/proc/self/mountinfo") as file:
        if not (mounts := file.readlines()):
            raise NothingFound("no mount is listed")
    return f"{len(mounts)} mounts"


def _clock(scene):
    return ~scene["victim"] << 3 | 2
