"""Waiting for changes of the names in a folder: the kernel reports them, so nothing is looked at again and again.

A file system that is taken away while somebody uses it changes no name of its own, but the list of what is mounted.
"""

from __future__ import annotations

import ctypes
import os

_CHANGES = 0x40 | 0x80 | 0x200 | 0x400 | 0x800 | 0x100  # moved, deleted, created; the folder itself moved or deleted
_NONBLOCK, _CLOEXEC = os.O_NONBLOCK, os.O_CLOEXEC
_CHUNK_BYTES = 1 << 16
_MOUNTS = "/proc/self/mountinfo"


class FolderWatch:
    """Of one folder.

    file: is readable after a change. mounts: is urgent after a change of what is mounted. None on a system that reports
    none.
    """

    def __init__(self, folder: str) -> None:
        self.file: int | None = None
        self.mounts: int | None = None
        try:
            self.mounts = os.open(_MOUNTS, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            pass
        library = ctypes.CDLL(None, use_errno=True)
        if not hasattr(library, "inotify_init1"):
            return
        file = library.inotify_init1(_NONBLOCK | _CLOEXEC)
        if file < 0:
            return
        if library.inotify_add_watch(file, os.fsencode(folder), _CHANGES) < 0:
            os.close(file)
            return
        self.file = file

    def read(self) -> None:
        """Take what was reported."""
        try:
            os.read(self.file or 0, _CHUNK_BYTES)
        except OSError:
            return
