"""Files that are nobody else's business: made with mode 0600 in folders with 0700, and trusted only where still so."""

from __future__ import annotations

import os
import stat

from ferrule.storage.failures import StoreFailed

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK  # a FIFO in a file's place must not stop us
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
_OPEN = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_CHUNK = 1 << 20


def make_folder(path: str) -> None:
    """Make a folder, and those above it that are missing, for the user alone. Raises OSError."""
    if os.path.isdir(path):
        return
    make_folder(os.path.dirname(path) or ".")
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        return  # by another process, or not as a folder, which is told by whatever comes next


def read(path: str, largest: int) -> bytes | None:
    """A file's bytes; None where there is none, or one that another user has made or may have changed, or too large.

    Raises StoreFailed where it cannot be read.
    """
    try:
        file = os.open(path, _READ)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if os.path.islink(path):
            return None
        raise failed(error) from None
    try:
        return _read_all(file, largest) if is_ours(os.fstat(file)) else None
    except OSError as error:
        raise failed(error) from None
    finally:
        os.close(file)


def write(path: str, data: bytes, expires: float) -> None:
    """Put a file in its place, whole or not at all; its time of change is when it expires. Raises StoreFailed.

    Nothing is forced to the disk: what a loss of power leaves of a file fails its own hash.
    """
    folder, name = os.path.split(path)
    waiting = os.path.join(folder, f".{name}.{os.getpid()}")
    try:
        make_folder(folder)
        _write_new(waiting, data)
        os.utime(waiting, (expires, expires))
        os.replace(waiting, path)
    except OSError as error:
        remove(waiting)
        raise failed(error) from None


def open_shared(path: str) -> int:
    """A file that several processes open to lock it, made where it is missing. Raises StoreFailed."""
    try:
        try:
            return os.open(path, _OPEN, 0o600)
        except FileNotFoundError:
            make_folder(os.path.dirname(path))
            return os.open(path, _OPEN, 0o600)
    except OSError as error:
        raise failed(error) from None


def remove(path: str) -> bool:
    """Remove a file; False where that cannot be, or it is gone."""
    try:
        os.unlink(path)
    except OSError:
        return False
    return True


def is_ours(facts: os.stat_result) -> bool:
    """Whether this is a file of this user's that nobody else may write to."""
    return stat.S_ISREG(facts.st_mode) and facts.st_uid == os.geteuid() and not facts.st_mode & 0o022


def listed(folder: str) -> Iterator[os.DirEntry[str]]:
    """What is in a folder; nothing where there is none. Raises StoreFailed where it cannot be listed."""
    try:
        found: AbstractContextManager[Iterator[os.DirEntry[str]]] = os.scandir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise failed(error) from None
    with found as entries:
        yield from entries


def failed(error: OSError) -> StoreFailed:
    """What the system says, without the path."""
    return StoreFailed(f"the cache's folder cannot be used: {error.strerror or type(error).__name__}")


def _read_all(file: int, largest: int) -> bytes | None:
    pieces, size = [], 0
    while piece := os.read(file, _CHUNK):
        pieces.append(piece)
        size += len(piece)
        if size > largest:
            return None
    return b"".join(pieces)


def _write_new(path: str, data: bytes) -> None:
    remove(path)  # left by a process of the same number that died
    file = os.open(path, _WRITE, 0o600)
    try:
        left = memoryview(data)
        while left:
            left = left[os.write(file, left) :]
    finally:
        os.close(file)
