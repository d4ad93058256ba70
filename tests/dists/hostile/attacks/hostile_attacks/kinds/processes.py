"""Other processes: ended, stopped, read, written, slowed down; and too many of its own."""

from __future__ import annotations

import _thread
import ctypes
import fcntl
import os
import resource
import signal
import threading
import time

from ..system_calls import call
from ..table import FORGED, HURT, OUTLIVES, STOLEN, WORD, attack

_COPIES = 64


@attack(FORGED, fatal=True)
def signal_to_the_parent(scene):
    """Ends the host's process."""
    os.kill(os.getppid(), signal.SIGKILL)
    return "sent"


@attack(FORGED, fatal=True)
def signal_to_a_thread_of_the_parent(scene):
    """Ends the host's process by a signal to its thread."""
    call("tgkill", os.getppid(), os.getppid(), signal.SIGKILL)
    return "sent"


@attack(FORGED, fatal=True)
def signal_by_a_descriptor_of_the_parent(scene):
    """Ends the host's process by a descriptor of it."""
    call("pidfd_send_signal", call("pidfd_open", os.getppid(), 0), signal.SIGKILL, 0, 0)
    return "sent"


@attack(FORGED, fatal=True)
def signal_by_a_queue_to_the_parent(scene):
    """Ends the host's process by rt_sigqueueinfo, which pretends to come from somebody else."""
    information = (ctypes.c_int * 32)(signal.SIGKILL, 0, -1)
    call("rt_sigqueueinfo", os.getppid(), signal.SIGKILL, information)
    return "sent"


@attack(HURT)
def signal_to_a_neighbour(scene):
    """Sends a signal to another process of the user."""
    os.kill(scene["victim"], signal.SIGUSR1)
    return "sent"


@attack(HURT)
def signal_to_the_clients_group(scene):
    """Sends a signal to a whole group of processes of the user."""
    os.killpg(scene["victim"], signal.SIGUSR1)
    return "sent"


@attack(HURT)
def signal_by_a_pipe(scene):
    """Makes another process the owner of a pipe, so that the kernel signals it when the pipe has something to read."""
    reader, writer = os.pipe()
    fcntl.fcntl(reader, fcntl.F_SETOWN, scene["victim"])
    fcntl.fcntl(reader, 10, signal.SIGUSR1)  # F_SETSIG
    fcntl.fcntl(reader, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
    os.write(writer, b"!")
    return "sent"


@attack(HURT, fatal=True)
def stopped_neighbour(scene):
    """Stops another process of the user."""
    os.kill(scene["victim"], signal.SIGSTOP)
    return "sent"


@attack(WORD)
def tracer_of_a_neighbour(scene):
    """Becomes the tracer of another process of the user."""
    call("ptrace", 0x4206, scene["victim"], 0, 0)  # PTRACE_SEIZE
    return "it is traced"


@attack(STOLEN)
def memory_of_a_neighbour(scene):
    """Reads the memory of another process of the user."""
    from .keys import _search_memory

    return _search_memory(str(scene["victim"]))


@attack(WORD)
def memory_of_a_neighbour_for_writing(scene):
    """Opens the memory of another process of the user for writing."""
    with open(f"/proc/{scene['victim']}/mem", "r+b", 0):
        return "it is open"


@attack(WORD)
def memory_of_a_neighbour_by_process_vm_writev(scene):
    """Writes into the memory of another process; nothing is written, the right to it is judged all the same."""
    from .keys import _range_of

    start, _ = _range_of(os.getpid(), "[stack]")
    buffer = ctypes.create_string_buffer(8)
    ours = (ctypes.c_uint64 * 2)(ctypes.addressof(buffer), 8)
    theirs = (ctypes.c_uint64 * 2)(start, 0)
    return f"{call('process_vm_writev', scene['victim'], ours, 1, theirs, 1, 0)} bytes"


@attack(WORD)
def likeness_of_processes(scene):
    """Compares kernel objects of another process with its own, which gives away where the kernel keeps them."""
    return f"kcmp says {call('kcmp', os.getpid(), scene['victim'], 1, 0, 0)}"


@attack(HURT)
def priority_of_a_neighbour(scene):
    """Slows another process of the user down."""
    os.setpriority(os.PRIO_PROCESS, scene["victim"], 19)
    return "slowed"


@attack(HURT)
def priority_of_all(scene):
    """Slows down all processes of the user whose group is the victim's."""
    os.setpriority(os.PRIO_PGRP, scene["victim"], 18)
    return "slowed"


@attack(HURT)
def processors_of_a_neighbour(scene):
    """Takes all processors but one away from another process of the user."""
    os.sched_setaffinity(scene["victim"], {min(os.sched_getaffinity(scene["victim"]))})
    return "taken"


@attack(HURT)
def scheduler_of_a_neighbour(scene):
    """Lets another process of the user run only when nothing else does."""
    os.sched_setscheduler(scene["victim"], os.SCHED_IDLE, os.sched_param(0))
    return "set"


@attack(HURT)
def disk_priority_of_a_neighbour(scene):
    """Lets another process of the user read from the disk only when nothing else does."""
    call("ioprio_set", 1, scene["victim"], 3 << 13)
    return "set"


@attack(HURT)
def limits_of_a_neighbour(scene):
    """Takes the right to open files away from another process of the user."""
    hard = resource.prlimit(scene["victim"], resource.RLIMIT_NOFILE)[1]
    resource.prlimit(scene["victim"], resource.RLIMIT_NOFILE, (8, hard))
    return "taken"


@attack(HURT)
def next_to_be_ended(scene):
    """Makes another process of the user the first one that the kernel ends when memory is short."""
    with open(f"/proc/{scene['victim']}/oom_score_adj", "w") as file:
        file.write("900")
    return "set"


@attack(WORD)
def pages_of_a_neighbour(scene):
    """Moves the memory of another process of the user to another place."""
    nodes = ctypes.c_ulong(1)
    return f"{call('migrate_pages', scene['victim'], 2, ctypes.byref(nodes), ctypes.byref(nodes))} pages"


@attack(WORD)
def advice_on_a_neighbours_memory(scene):
    """Has the kernel put another process's memory out of reach of speed."""
    process = call("pidfd_open", scene["victim"], 0)
    nothing = (ctypes.c_uint64 * 2)(0, 0)
    return f"{call('process_madvise', process, nothing, 1, 20, 0)} bytes"


@attack(WORD)
def fork_bomb(scene):
    """Forks 64 copies that all run at the same time."""
    return _copies(os.fork)


@attack(WORD)
def fork_bomb_past_pythons_fork(scene):
    """Forks 64 copies by the system call itself."""
    return _copies(lambda: call("clone", signal.SIGCHLD, 0, 0, 0, 0))


@attack(WORD)
def fork_bomb_by_clone3(scene):
    """Forks 64 copies by clone3, whose flags a filter cannot see."""
    arguments = (ctypes.c_uint64 * 11)(0, 0, 0, 0, signal.SIGCHLD)
    return _copies(lambda: call("clone3", arguments, ctypes.sizeof(arguments)))


@attack(WORD)
def thread_bomb(scene):
    """Starts 1500 threads with stacks of 8 MiB."""
    is_over = threading.Event()
    threading.stack_size(8 << 20)
    try:
        for _ in range(1500):
            # Thread.start would wait for ever for one that has not found the memory to begin.
            _thread.start_new_thread(is_over.wait, ())
        count = len(os.listdir("/proc/self/task"))
    finally:
        is_over.set()
        threading.stack_size(0)
    return f"{count} threads" if count > 1500 else ""


@attack(OUTLIVES, fatal=True)
def daemon(scene):
    """Leaves a process that has left its session, its group and its parent."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            _wait_for_long(scene)
        os._exit(0)
    time.sleep(0.05)
    return "left"


@attack(OUTLIVES, fatal=True)
def child_of_the_parent(scene):
    """Makes a process whose parent is the host's process, with CLONE_PARENT."""
    if call("clone", 0x8000 | signal.SIGCHLD, 0, 0, 0, 0) == 0:
        _wait_for_long(scene)
    return "left"


@attack(OUTLIVES, fatal=True)
def chain_of_processes(scene):
    """Leaves a process that forks again and ends, again and again, faster than it can be ended."""
    if os.fork() == 0:
        _take_name(scene)
        os.setsid()
        limit = time.monotonic() + 20
        while time.monotonic() < limit:
            if os.fork():
                os._exit(0)
        os._exit(0)
    return "left"


@attack(WORD)
def limits_of_its_own_raised(scene):
    """Raises the limit of its own memory to whatever there is."""
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    return "it may have all memory"


@attack(WORD, root=True)
def priority_of_its_own_raised(scene):
    """Takes the processor from all others by a higher priority."""
    os.nice(-10)
    return f"priority {os.getpriority(os.PRIO_PROCESS, 0)}"


@attack(WORD, root=True)
def real_time_of_its_own(scene):
    """Has itself scheduled before all others."""
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    return "set"


def _copies(fork):
    """Fork copies that wait, and end them all; how many there were."""
    reader, writer = os.pipe()
    children = []
    try:
        for _ in range(_COPIES):
            child = fork()
            if child == 0:
                os.close(writer)
                os.read(reader, 1)
                os._exit(0)
            children.append(child)
    finally:
        os.close(reader)
        os.close(writer)
        for child in children:
            os.waitpid(child, 0)
    return f"{len(children)} copies at a time"


def _wait_for_long(scene):
    _take_name(scene)
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    for file in range(3):
        os.close(file)
    os.closerange(3, 256)
    time.sleep(30)
    os._exit(0)


def _take_name(scene, what="left"):
    """A name by which it is found again."""
    ctypes.CDLL(None).prctl(15, f"{what}-{scene['mark'][:8]}".encode(), 0, 0, 0)
