"""One process asks, and those that want to know the same wait for it: on one machine, by a lock on a file.

A flight is one file. Whoever has it locked asks; when it has an answer it writes into the file that the flight has
ended, takes the file's name away, and lets go. Whoever dies lets go of an empty file, and the next in line asks.
"""

from __future__ import annotations

import os
from _thread import allocate_lock, start_new_thread

from ferrule.storage.private_files import failed, open_shared, remove

LEADS, FOLLOWED, ALONE = "leads", "followed", "alone"
"""What `join` says: this process asks, and ends the flight; another one has asked; there was no time to wait."""

_ENDED = b"ended"


class Flight:
    """A flight of one key. path: its file."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._file: int | None = None

    def join(self, seconds: float) -> str:
        """Lead the flight where nobody does, else wait until it has ended, for some seconds at most.

        Raises StoreFailed where there is no locking.
        """
        while True:
            file = open_shared(self._path)
            if not _locked(file) and not _locked_within(file, seconds):
                return ALONE  # the thread that waits closes the file
            if os.pread(file, len(_ENDED), 0):
                _let_go(file)
                return FOLLOWED
            if os.fstat(file).st_nlink:
                self._file = file
                return LEADS
            _let_go(file)  # an old one, taken away by whoever tidied up before we had locked it

    def end(self) -> None:
        """Let those who wait go on. Does nothing where this process leads no flight."""
        file, self._file = self._file, None
        if file is None:
            return
        try:
            os.pwrite(file, _ENDED, 0)
        except OSError:
            pass  # a full disk: they find an empty file, and ask one after the other
        remove(self._path)
        _let_go(file)


def tidy(path: str) -> None:
    """Remove the file of a flight that nobody is on."""
    try:
        file = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return
    try:
        if _locked(file):
            remove(path)
    finally:
        _let_go(file)


def _let_go(file: int) -> None:
    """Unlock and close. A process that the tool has forked has the same lock, which closing alone would not lift."""
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_UN)
        os.close(file)
    except OSError:
        pass  # the tool has closed it, and thereby let go


def _locked(file: int) -> bool:
    """Lock a file now, where nobody else has. Raises StoreFailed where it cannot be locked at all."""
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        os.close(file)
        raise failed(error) from None
    return True


def _locked_within(file: int, seconds: float) -> bool:
    """Wait for the lock, without looking again and again: the system wakes a thread that sleeps in flock."""
    import fcntl

    turn, woken = allocate_lock(), allocate_lock()
    woken.acquire()
    has_given_up = False

    def wait() -> None:
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
        except OSError:
            return  # whoever waits finds the time over
        with turn:
            if has_given_up:
                _let_go(file)
            else:
                woken.release()

    try:
        start_new_thread(wait, ())
    except RuntimeError:  # no room for one more thread
        os.close(file)
        return False
    if woken.acquire(timeout=max(0.0, min(seconds, 86_400.0))):
        return True
    with turn:
        has_given_up = not woken.acquire(blocking=False)
    return not has_given_up
