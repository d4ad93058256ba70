"""Memory and queues that processes share by a name or number, and that stay when the call is over."""

from __future__ import annotations

import ctypes
import os
import time

from ..system_calls import call
from ..table import OUTLIVES, STOLEN, attack

_NEW = 0o1000 | 0o600
_OWN_KEY = 2  # above the scene's, so that it is known whose attack has left something


@attack(STOLEN)
def segment_of_a_neighbour(scene):
    """Reads a segment of System V memory of another program."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.shmat.restype = ctypes.c_void_p
    place = libc.shmat(call("shmget", scene["segment_key"], 0, 0), None, 0o10000)
    if place in (None, ctypes.c_void_p(-1).value):
        raise OSError(ctypes.get_errno(), "shmat")
    return ctypes.string_at(place, 64).decode(errors="replace")


@attack(STOLEN)
def message_of_a_neighbour(scene):
    """Takes a message out of a System V queue of another program."""
    buffer = ctypes.create_string_buffer(8 + 256)
    queue = call("msgget", scene["segment_key"], 0)
    got = call("msgrcv", queue, buffer, 256, 0, 0o4000)
    return buffer.raw[8 : 8 + got].decode()


@attack(STOLEN)
def message_of_a_named_queue(scene):
    """Takes a message out of a named queue of another program."""
    queue = call("mq_open", scene["queue"].encode(), os.O_RDWR | os.O_NONBLOCK, 0, 0)
    buffer = ctypes.create_string_buffer(8192)
    size = call("mq_timedreceive", queue, buffer, 8192, 0, 0)
    return buffer.raw[:size].decode()


@attack(OUTLIVES)
def segment_left(scene):
    """Leaves a segment of System V memory."""
    return f"segment {call('shmget', scene['segment_key'] + _OWN_KEY, 4096, _NEW)}"


@attack(OUTLIVES)
def semaphores_left(scene):
    """Leaves System V semaphores, of which a machine has few."""
    return f"set {call('semget', scene['segment_key'] + _OWN_KEY, 1, _NEW)}"


@attack(OUTLIVES)
def queue_left(scene):
    """Leaves a System V queue."""
    return f"queue {call('msgget', scene['segment_key'] + _OWN_KEY, _NEW)}"


@attack(OUTLIVES)
def named_queue_left(scene):
    """Leaves a named queue."""
    name = f"planted-by-an-attack-{scene['mark']}".encode()
    return f"queue {call('mq_open', name, os.O_CREAT | os.O_RDWR, 0o600, 0)}"


@attack(OUTLIVES)
def shared_memory_left(scene):
    """Leaves shared memory by Python's own library, which puts it into /dev/shm."""
    from multiprocessing import resource_tracker, shared_memory

    resource_tracker.register = lambda *_: None  # which would start a process, and remove it
    shared = shared_memory.SharedMemory(f"planted-by-an-attack-{scene['mark']}-{time.time_ns()}", True, 64)
    return shared.name
