"""A file read by io_uring: opened and read by entries of a queue in shared memory, without open or read."""

from __future__ import annotations

import ctypes
import mmap
import os

from .system_calls import AT_FDCWD, call

_OPENAT, _READ = 18, 22
_ENTER = 426  # on all architectures
_ENTRY_BYTES = 64


class _Parameters(ctypes.Structure):
    _fields_ = [("entries", ctypes.c_uint32 * 10), ("sq", ctypes.c_uint32 * 10), ("cq", ctypes.c_uint32 * 10)]


def read_file(path):
    """The first 4096 bytes of a file."""
    parameters = _Parameters()
    ring = call("io_uring_setup", 4, ctypes.byref(parameters))
    try:
        queue = _Queue(ring, parameters)
        name, buffer = ctypes.create_string_buffer(path.encode()), ctypes.create_string_buffer(4096)
        file = queue.submit(_OPENAT, AT_FDCWD, ctypes.addressof(name), 0, 0, os.O_RDONLY)
        size = queue.submit(_READ, file, ctypes.addressof(buffer), 4096, 0, 0)
        return buffer.raw[:size]
    finally:
        os.close(ring)


class _Queue:
    """sq, cq: the offsets of head, tail, mask, … in the ring, as the kernel gave them."""

    def __init__(self, ring, parameters):
        self._ring, self._sq, self._cq = ring, parameters.sq, parameters.cq
        entries = parameters.entries[0]
        size = max(self._sq[6] + entries * 4, self._cq[5] + parameters.entries[1] * 16)
        self._map = mmap.mmap(ring, size, mmap.MAP_SHARED)
        self._entries = mmap.mmap(ring, entries * _ENTRY_BYTES, mmap.MAP_SHARED, offset=0x10000000)

    def submit(self, operation, file, address, length, offset, flags):
        """Have one operation done, and wait for its result; OSError where that is an error."""
        tail = self._number(self._sq[1])
        index = tail & self._number(self._sq[2])
        entry = operation.to_bytes(1, "little") + bytes(3) + (file & 0xFFFFFFFF).to_bytes(4, "little")
        entry += offset.to_bytes(8, "little") + address.to_bytes(8, "little")
        entry += length.to_bytes(4, "little") + flags.to_bytes(4, "little")
        self._entries[index * _ENTRY_BYTES : (index + 1) * _ENTRY_BYTES] = entry.ljust(_ENTRY_BYTES, b"\0")
        self._set(self._sq[6] + index * 4, index)
        self._set(self._sq[1], tail + 1)
        from .system_calls import numbered

        numbered(_ENTER, self._ring, 1, 1, 1, 0, 0, name="io_uring_enter")
        head = self._number(self._cq[0])
        place = self._cq[5] + (head & self._number(self._cq[2])) * 16 + 8
        result = int.from_bytes(self._map[place : place + 4], "little", signed=True)
        self._set(self._cq[0], head + 1)
        if result < 0:
            raise OSError(-result, os.strerror(-result), "io_uring")
        return result

    def _number(self, place):
        return int.from_bytes(self._map[place : place + 4], "little")

    def _set(self, place, value):
        self._map[place : place + 4] = value.to_bytes(4, "little")
