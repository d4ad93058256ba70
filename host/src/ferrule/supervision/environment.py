"""The environment of a child: nothing but what it is given, and no trace of the rest in its memory.

`os.environ` shows a variable, and three other places hold it: the block that the kernel put on the stack, which is also
`/proc/self/environ`; copies that the C library makes where a variable is changed; and the bytes from which `os.environ`
decodes. Whoever has taken a value from `os.environ` has one more copy, which is not found here.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Mapping

_BLOCK_FIELDS = 47, 48  # of /proc/self/stat, counted from the one behind the name: where the block begins and ends
_BYTES_HEADER = sys.getsizeof(b"") - 1
_SHARED_BYTES = 1  # bytes objects of up to so many bytes are the interpreter's own
_MAX_STAT_BYTES = 4096
_POINTER_BYTES = 8
_MAX_COPY_BYTES = 1 << 17  # the kernel takes no longer variable
_SET_DUMPABLE = 4


class Replacement:
    """What makes `given` the whole environment of a child. It is worked out in the parent, where it costs less.

    What is in the environment of this process now and not in `given`, or has another value there, is overwritten by
    `apply`, in the child. Where the kernel does not let a process write to its memory by /proc, the variables are taken
    out, and their traces stay.
    """

    def __init__(self, given: Mapping[str, str]) -> None:
        kept = {os.fsencode(name): os.fsencode(value) for name, value in given.items()}
        self._given = given
        self._held: dict[bytes, bytes] = getattr(os.environ, "_data")  # noqa: B009 - mypy knows nothing of it
        self._dropped = {name for name, value in self._held.items() if kept.get(name) != value}
        try:
            self._places = _find_traces(self._dropped, self._held) if sys.platform == "linux" and self._dropped else []
        except (OSError, ValueError, IndexError):
            self._places = []  # a system without /proc

    def apply(self) -> None:
        """In the child, before anything runs there that must not see what is dropped."""
        if self._places:
            memory = _open_memory()
            try:
                for address, size in self._places:
                    os.pwrite(memory, bytes(size), address)
            finally:
                os.close(memory)
        for name in self._dropped:
            del self._held[name]
            os.unsetenv(name)
        for text, value in self._given.items():
            if self._held.get(os.fsencode(text)) != os.fsencode(value):
                os.environ[text] = value


def _open_memory() -> int:
    flags = os.O_RDWR | os.O_CLOEXEC
    try:
        return os.open("/proc/self/mem", flags)
    except PermissionError:
        # The file belongs to root as long as this process may not be looked into.
        from ferrule.supervision.processes import control_process

        control_process(_SET_DUMPABLE, 1)
        try:
            return os.open("/proc/self/mem", flags)
        finally:
            control_process(_SET_DUMPABLE, 0)


def _find_traces(names: set[bytes], held: Mapping[bytes, bytes]) -> list[tuple[int, int]]:
    """Addresses and sizes of what has to be overwritten."""
    memory = _open_memory()
    try:
        start, end = _block()
        places = _places_in_block(memory, names, start, end)
        places += [place for address in _pointers(memory) if (place := _copy_at(memory, address, names, start, end))]
    finally:
        os.close(memory)
    values = (held[name] for name in names)
    return places + [(id(value) + _BYTES_HEADER, len(value)) for value in values if len(value) > _SHARED_BYTES]


def _block() -> tuple[int, int]:
    file = os.open("/proc/self/stat", os.O_RDONLY | os.O_CLOEXEC)
    try:
        fields = os.read(file, _MAX_STAT_BYTES).rpartition(b")")[2].split()
    finally:
        os.close(file)
    start, end = (int(fields[field]) for field in _BLOCK_FIELDS)
    return start, end


def _places_in_block(memory: int, names: set[bytes], start: int, end: int) -> list[tuple[int, int]]:
    """In the block, `NAME=value` stand one after the other, each ended by NUL. Neighbours become one place."""
    block = bytearray(end - start)
    os.preadv(memory, [block], start)
    places: list[tuple[int, int]] = []
    at = 0
    while at < len(block):
        stop = block.find(b"\0", at)
        stop = len(block) if stop < 0 else stop
        separator = block.find(b"=", at, stop)
        if separator >= 0 and bytes(block[at:separator]) in names:
            address, size = places.pop() if places and sum(places[-1]) + 1 == start + at else (start + at, -1)
            places.append((address, size + 1 + stop - at))
        at = stop + 1
    block[:] = bytes(len(block))
    return places


def _copy_at(memory: int, address: int, names: set[bytes], start: int, end: int) -> tuple[int, int] | None:
    """A variable that the C library has outside of the block, because it was set after the process's start."""
    if start <= address < end:
        return None
    text = bytearray(_MAX_COPY_BYTES)
    size = os.preadv(memory, [text], address)
    stop, separator = text.find(b"\0", 0, size), text.find(b"=", 0, size)
    is_dropped = 0 <= separator < stop and bytes(text[:separator]) in names
    text[:] = bytes(len(text))
    return (address + separator + 1, stop - separator - 1) if is_dropped else None


def _pointers(memory: int) -> list[int]:
    """The addresses in the C library's array `environ`, which NULL ends."""
    try:
        from _ctypes import dlopen, dlsym

        at = int(dlsym(dlopen(None, 0), "environ"))  # type: ignore[arg-type] # as processes.py does
    except (ImportError, OSError, TypeError):
        return []
    array = int.from_bytes(os.pread(memory, _POINTER_BYTES, at), sys.byteorder)
    size = (len(os.environ) + 1) * _POINTER_BYTES
    found = memoryview(os.pread(memory, size, array)).cast("Q").tolist() if array else []
    return found[: found.index(0)] if 0 in found else found
