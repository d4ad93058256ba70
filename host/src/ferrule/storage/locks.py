"""Locks between processes: flock on a file, waited for in a thread, and never beyond a limit.

The system wakes the thread, so nothing is polled, and no signal or timer of the process is used. The thread is the
interpreter's own (`_thread`): it neither imports `threading` nor keeps the process from ending. flock is used directly,
since filelock imports asyncio, which takes as long as the start of an interpreter.
"""

from __future__ import annotations

import os

from ferrule.storage.private_files import open_shared, overwrite
from ferrule.storage.threads import NoThread, run_within

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

_MAX_CONTENT_BYTES = 65_536


def locked(file: str | int, seconds: float) -> AbstractContextManager[int]:
    """Hold the lock of a file while the block runs; what the block gets is the file's descriptor.

    file: a path, whose file is made for its owner alone where it is missing, or the descriptor of an open file or
    folder, which stays open. seconds: how long another holder is waited for. Raises TimeoutError after that, and
    OSError where the file cannot be opened or its file system has no locks.
    """
    return _Locked(file, seconds)


class _Locked:
    """See `locked`. A class: contextlib costs a journaled call a quarter of an interpreter's start."""

    def __init__(self, file: str | int, seconds: float) -> None:
        self._file = file
        self._seconds = seconds

    def __enter__(self) -> int:
        file = self._file
        self._descriptor = open_shared(file) if isinstance(file, str) else _opened_again(file)
        try:
            if not lock(self._descriptor, self._seconds):
                raise TimeoutError("another process holds the lock")
        except BaseException:
            _close(self._descriptor)
            raise
        return self._descriptor if isinstance(file, str) else file

    def __exit__(self, *_: object) -> None:
        unlock(self._descriptor)
        _close(self._descriptor)


def update_locked(path: str, seconds: float, change: Callable[[bytes], bytes]) -> None:
    """Read a small file that processes share, and write what `change` makes of it, while no other process does.

    change: gets at most 64 KiB, empty if there is no file yet; where the same comes back, nothing is written. A file
    that cannot be opened, locked within `seconds`, read or written counts as an empty one, and what it would have said
    is lost. Raises what `change` raises, and writes nothing then.
    """
    held = _Locked(path, seconds)
    try:
        file = held.__enter__()
    except OSError:
        change(b"")
        return
    try:
        before = _content(file)
        after = change(before)
        if after != before:
            _overwrite_where_possible(file, after)
    finally:
        held.__exit__()


def _overwrite_where_possible(file: int, data: bytes) -> None:
    try:
        overwrite(file, data)
    except OSError:
        return


def _close(file: int) -> None:
    try:
        os.close(file)
    except OSError:
        return


def lock(file: int, seconds: float) -> bool:
    """Lock an open file; False where another process holds the lock for longer than `seconds`, or no thread can start.

    Raises OSError where the file system has no locks.
    """
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return seconds > 0 and _lock_in_thread(file, seconds)
    return True


def unlock(file: int) -> None:
    """Let go of a lock. Closing would not do: a process that was forked meanwhile holds the same lock."""
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_UN)
    except OSError:
        return  # the descriptor was closed, by which the lock is gone, too


def _opened_again(file: int) -> int:
    """Another descriptor of an open file, whose lock is its own where the system can do that.

    With one lock for all, a thread that was given up on would let go of what the next attempt has got.
    """
    import fcntl

    try:
        mode = fcntl.fcntl(file, fcntl.F_GETFL) & os.O_ACCMODE
        return os.open(f"/dev/fd/{file}", mode | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return os.dup(file)


def _lock_in_thread(file: int, seconds: float) -> bool:
    import fcntl

    own = os.dup(file)  # shares the lock, and stays open when the caller has given up and closed the file

    def wait() -> bool:
        try:
            fcntl.flock(own, fcntl.LOCK_EX)
        except OSError:
            return False
        return True

    def release(_: bool) -> None:
        unlock(own)
        os.close(own)

    try:
        is_locked = run_within(seconds, wait, release)
    except TimeoutError:
        return False  # the thread closes the descriptor, once it has the lock
    except NoThread:
        is_locked = False
    os.close(own)
    return is_locked


def _content(file: int) -> bytes:
    try:
        return os.pread(file, _MAX_CONTENT_BYTES, 0)
    except OSError:
        return b""
