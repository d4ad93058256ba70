"""Whether what is installed, or configured, may have changed: a look at the files' times, which imports nothing."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

Fingerprint = frozenset[tuple[str, int, int, int]]
"""Of each file and metadata folder: its path, its time of modification in nanoseconds, its size, its inode."""

_WATCHED = (".dist-info", ".egg-info", ".pth", ".egg-link")
_INSIDE = ("entry_points.txt", "RECORD")  # the first decides what is offered, the last is written when all is there


def take_fingerprint(folders: Iterable[str], files: Iterable[str]) -> Fingerprint:
    """What stands for the present state of these folders and files; equal ones mean that nothing has changed.

    folders: where distributions may be installed; of what else is in them nothing counts. What is not there, or cannot
    be read, is left out.
    """
    paths = [*files, *(path for folder in dict.fromkeys(folders) for path in _distributions(folder))]
    return frozenset(found for path in paths for found in _facts(path))


def _distributions(folder: str) -> Iterator[str]:
    try:
        names = os.listdir(folder)
    except OSError:
        return
    for name in names:
        if name.endswith(_WATCHED):
            path = os.path.join(folder, name)
            yield path
            yield from (os.path.join(path, inner) for inner in _INSIDE if name.endswith("-info"))


def _facts(path: str) -> Iterator[tuple[str, int, int, int]]:
    try:
        found = os.stat(path)
    except OSError:
        return
    yield path, found.st_mtime_ns, found.st_size, found.st_ino
