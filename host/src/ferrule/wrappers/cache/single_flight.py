"""One process asks, and those that ask the same meanwhile wait for it: on one machine, by a lock on a file.

A flight is one file. The leader has it locked; when it has an answer it writes into the file that the flight has ended,
takes the file's name away, and unlocks it. A leader that dies unlocks an empty file, and the next in line leads.
"""

from __future__ import annotations

import os
from contextlib import suppress

from ferrule.storage.errors import unusable
from ferrule.storage.locks import lock, unlock
from ferrule.storage.private_files import open_shared, remove_file

LEADER, FOLLOWER, TIMEOUT = "leader", "follower", "timeout"
"""What `join` returns: this process asks, and ends the flight; another one has asked; the time was over before."""

_ENDED = b"ended"


class SingleFlight:
    """The flight of one key. path: its file. folder_name: what a StorageError calls the folder."""

    def __init__(self, path: str, folder_name: str) -> None:
        self._path = path
        self._folder_name = folder_name
        self._file: int | None = None

    def join(self, seconds: float) -> str:
        """Lead the flight where no other process does, else wait until it has ended, for some seconds at most.

        Raises StorageError if there is no locking.
        """
        role = None
        try:
            while role is None:
                role = self._join_file(open_shared(self._path), seconds)
        except OSError as error:
            raise unusable(self._folder_name, error) from None
        return role

    def end(self) -> None:
        """Let those who wait go on. Does nothing where this process leads no flight."""
        file, self._file = self._file, None
        if file is None:
            return
        with suppress(OSError):  # a full disk: they find an empty file, and ask one after the other
            os.pwrite(file, _ENDED, 0)
        remove_file(self._path)
        _release(file)

    def _join_file(self, file: int, seconds: float) -> str | None:
        """The role of this process; None where the file was removed as an abandoned one before it was locked."""
        role: str | None = TIMEOUT
        try:
            if lock(file, seconds):
                role = FOLLOWER if os.pread(file, len(_ENDED), 0) else LEADER if os.fstat(file).st_nlink else None
        finally:
            if role == LEADER:
                self._file = file
            else:
                _release(file)
        return role


def remove_abandoned(path: str) -> None:
    """Remove the file of a flight that no process is on."""
    try:
        file = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return
    with suppress(OSError):
        if lock(file, 0):
            remove_file(path)
    _release(file)


def _release(file: int) -> None:
    unlock(file)
    with suppress(OSError):  # the tool has closed it
        os.close(file)
