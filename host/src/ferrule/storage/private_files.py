"""Files of the user alone: made with mode 0600 in folders with 0700, replaced as a whole, and trusted only where so."""

from __future__ import annotations

import os
import stat

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator

_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK  # a FIFO in a file's place must not stop us
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
_SHARE = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_CHUNK_BYTES = 1 << 20


def make_folder(path: str) -> None:
    """Make a folder, and those above it that are missing, with mode 0700. Raises OSError."""
    if os.path.isdir(path):
        return
    make_folder(os.path.dirname(path) or ".")
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        return  # by another process, or not as a folder, which the next use of it reports


def read_file(path: str, max_bytes: int) -> bytes | None:
    """The content of a private file; None if there is none that can be trusted.

    That is: no file, a link or another kind of file, one that another user owns or may write to, or a larger one.
    Raises OSError where it cannot be read.
    """
    try:
        return read_present(path, max_bytes)
    except (FileNotFoundError, NotADirectoryError):
        return None


def read_present(path: str, max_bytes: int) -> bytes | None:
    """As `read_file`, for who has to tell a file that is not there, which raises FileNotFoundError, from another one.

    A look at whether it is there, after it was not, would find the file that another process has made meanwhile.
    """
    try:
        file = os.open(path, _READ)
    except (FileNotFoundError, NotADirectoryError):
        raise
    except OSError:
        if os.path.islink(path):
            return None
        raise
    try:
        return _read_all(file, max_bytes) if _is_trusted(os.fstat(file)) else None
    finally:
        os.close(file)


def replace_file(
    path: str,
    data: bytes,
    *,
    mode: int = 0o600,
    modified: float | None = None,
    modified_ns: int | None = None,
    is_synced: bool = False,
) -> None:
    """Put a file in its place, whole or not at all. The folder must be there.

    Args:
        modified, modified_ns: its time of modification, in seconds or nanoseconds since 1970, for the present.
        is_synced: whether the content has reached the disk before the file has its name.

    Raises:
        OSError, and leaves what was there.
    """
    draft = os.path.join(os.path.dirname(path), f".{os.path.basename(path)}.{os.urandom(8).hex()}")
    try:
        file = os.open(draft, _CREATE, 0o600)
        try:
            _write_all(file, data)
            if mode != 0o600:
                os.fchmod(file, mode)
            if modified is not None:
                os.utime(file, (modified, modified))
            if modified_ns is not None:
                os.utime(file, ns=(modified_ns, modified_ns))
            if is_synced:
                os.fsync(file)
        finally:
            os.close(file)
        os.replace(draft, path)
    except BaseException:
        remove_file(draft)
        raise


def open_shared(path: str) -> int:
    """A descriptor of a file that several processes open and lock; it is made where it is missing. Raises OSError."""
    try:
        return os.open(path, _SHARE, 0o600)
    except FileNotFoundError:
        make_folder(os.path.dirname(path))
        return os.open(path, _SHARE, 0o600)


def overwrite(file: int, data: bytes) -> None:
    """Change the content of an open file in place; where the disk is full, nothing is left. Raises OSError."""
    written = os.pwrite(file, data, 0)
    os.ftruncate(file, len(data) if written == len(data) else 0)


def remove_file(path: str) -> bool:
    """Remove a file; False where it is not there, or cannot be removed."""
    try:
        os.unlink(path)
    except OSError:
        return False
    return True


def files_in(folder: str) -> Iterator[os.DirEntry[str]]:
    """What is in a folder; nothing if there is none. Raises OSError where it cannot be listed."""
    try:
        found = os.scandir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return
    with found:
        yield from found


def _is_trusted(facts: os.stat_result) -> bool:
    """Whether it is a file of this user that no other user may write to."""
    return stat.S_ISREG(facts.st_mode) and facts.st_uid == os.geteuid() and not facts.st_mode & 0o022


def _read_all(file: int, max_bytes: int) -> bytes | None:
    pieces, size = [], 0
    while piece := os.read(file, _CHUNK_BYTES):
        pieces.append(piece)
        size += len(piece)
        if size > max_bytes:
            return None
    return b"".join(pieces)


def _write_all(file: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(file, left) :]
