"""Small files that the processes of a user share: one of them reads and writes at a time, and never waits for long.

flock is used directly: filelock does the same and imports asyncio, for as long as an interpreter takes to start.
"""

from __future__ import annotations

import os
import time

_LOCK_SECONDS = 1.0
_POLL = 0.005
_LONGEST = 65_536  # bytes


def locked(path: str) -> int | None:
    """The descriptor of the file, opened and locked; None where that cannot be, or not soon. Closing it unlocks it."""
    import fcntl

    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)
    except OSError:
        return None
    limit = time.monotonic() + _LOCK_SECONDS
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > limit:
                break
            time.sleep(_POLL)
        except OSError:
            break
        else:
            return file
    os.close(file)
    return None


def contents(file: int) -> bytes:
    """The first 64 KiB of it, empty where it cannot be read."""
    try:
        return os.pread(file, _LONGEST, 0)
    except OSError:
        return b""


def replace(file: int, data: bytes) -> None:
    """Put other data in its place; where the disk is full, nothing that a reader could make sense of is left."""
    try:
        os.ftruncate(file, 0)
        os.pwrite(file, data, 0)
    except OSError:
        return
