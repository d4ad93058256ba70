"""Where the code lies from which this process makes its system calls: in the C library, and in the dynamic loader.

A program that is started has both at other addresses. So a filter that is inherited by it knows whose call it sees,
and the process itself does not wait for what is only told of programs.
"""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable

_FUNCTIONS = ("openat64", "open64", "openat", "open", "fopen64", "mkdir", "_exit", "__tls_get_addr")
"""Of the libraries that make such calls: older C libraries have some in a library of threads, the last one is the
loader's."""

Range = tuple[int, int]  # the first address, and the one behind the last


def ranges() -> list[Range]:
    """The executable parts of these libraries in the memory of this process; none where they cannot be found."""
    try:
        from _ctypes import dlopen, dlsym

        program = dlopen(None, 0)  # type: ignore[arg-type] # typeshed wants a name
    except (ImportError, OSError, TypeError):
        return []
    places = []
    for name in _FUNCTIONS:
        try:
            places.append(dlsym(program, name))
        except OSError:
            continue
    return _around(places)


def _around(places: Iterable[int]) -> list[Range]:
    try:
        with open("/proc/self/maps", "rb", buffering=0) as file:
            lines = _read_all(file.fileno()).splitlines()
    except OSError:
        return []
    wanted = set(places)
    found = []
    for line in lines:
        words = line.split(None, 2)
        if b"x" in words[1]:
            first, _, end = words[0].partition(b"-")
            one = int(first, 16), int(end, 16)
            if any(one[0] <= place < one[1] for place in wanted):
                found.append(one)
    return found


def _read_all(file: int) -> bytes:
    """All of a file of /proc, which gives a page at a time."""
    import os

    pieces = []
    while piece := os.read(file, 1 << 16):
        pieces.append(piece)
    return b"".join(pieces)
