"""Plugin of pytest: what it takes that ten thousand tests are collected in each process that runs some of them.

They are collected without the garbage collector, which would look at them all. Then they fill some hundred megabytes,
and a test that forks, as each supervised call does, has the kernel copy an entry for each of their pages, which takes
longer than most of what is tested. On large pages that is a third.
"""

from __future__ import annotations

import ctypes
import gc
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pytest

_MANY_TESTS = 1000
_LARGE_PAGE_BYTES = 1 << 21
_COLLAPSE = 25  # of madvise(2), since Linux 6.1


def pytest_configure() -> None:
    """Let nothing be looked for while tests are made, of which every one is kept."""
    gc.disable()


def pytest_collection_finish(session: pytest.Session) -> None:
    """Look for garbage from now on, and never at what is there now, which is hardly ever garbage."""
    gc.freeze()
    gc.enable()
    if len(session.items) > _MANY_TESTS and sys.platform == "linux":
        use_large_pages()


def use_large_pages() -> None:
    """Have what this process has in its memory now on large pages, wherever the kernel can."""
    advise = ctypes.CDLL(None).madvise
    advise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    for begin, end in _memory():
        for address in range(-(-begin // _LARGE_PAGE_BYTES) * _LARGE_PAGE_BYTES, end, _LARGE_PAGE_BYTES):
            if address + _LARGE_PAGE_BYTES <= end:
                advise(address, _LARGE_PAGE_BYTES, _COLLAPSE)  # where it cannot, all stays as it is


def _memory() -> Iterator[tuple[int, int]]:
    """The beginning and the end of each stretch of memory that this process can write and that is no file's."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        place, rights, _, _, _, *name = line.split(maxsplit=5)
        if rights.startswith("rw") and rights.endswith("p") and name in ([], ["[heap]"]):
            begin, _, end = place.partition("-")
            yield int(begin, 16), int(end, 16)
