"""A note put in its place: whole or not at all, and never in the place of another."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from contextlib import suppress

from ferrule_opennotes import errors
from ferrule_opennotes.create import folders

_MODE = 0o644
_ATTEMPTS = 200  # where others make and remove the same folder all the time, one in a few succeeds
_MAX_PATH_BYTES = 4095  # bytes that Linux takes; what lies deeper could not be read by its path
_NO_UNNAMED = (errno.EOPNOTSUPP, errno.EISDIR, errno.ENOENT, errno.EINVAL, errno.EPERM, errno.EACCES, errno.ENOSYS)


def place(root: str, folder: Sequence[str], name: str, data: bytes) -> str:
    """Write a new file; return its path from the root, with "/" between its parts.

    root: the notebook's, which is made where it does not exist, as the CLI does. folder: the way to the folder from
    there, made as far as need be. Raises PATH_TRAVERSAL, NOTE_EXISTS, and WRITE_FAILED.
    """
    path = "/".join([*folder, name])
    if len(os.fsencode(os.path.join(root, path))) > _MAX_PATH_BYTES:
        raise errors.write_failed(path, f"its path would be longer than {_MAX_PATH_BYTES:,} bytes")
    try:
        return _place(root, folder, name, data)
    except FileExistsError:
        raise errors.note_exists(path) from None
    except folders.FolderError as error:
        raise errors.write_failed(path, f"{error} is a file, not a folder") from None
    except OSError as error:
        raise errors.write_failed(path, (error.strerror or str(error)).lower()) from None


def _place(root: str, folder: Sequence[str], name: str, data: bytes) -> str:
    _make_root(root)
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            with folders.open_folder(root, folder) as there:
                _write(there.descriptor, name, data)
                return "/".join([*there.parts, name])
        except FileNotFoundError:
            # A call that failed has removed the folder that it had made, and that this one was in already.
            if attempt == _ATTEMPTS:
                raise
    raise AssertionError("the last attempt returns or raises")


def _make_root(root: str) -> None:
    try:
        os.makedirs(root, exist_ok=True)
    except FileExistsError:
        raise folders.FolderError("the notebook's root") from None


def _write(folder: int, name: str, data: bytes) -> None:
    if not _write_unnamed(folder, name, data) and not _write_aside(folder, name, data):
        _write_named(folder, name, data)


def _write_unnamed(folder: int, name: str, data: bytes) -> bool:
    """Write a file that gets its name when it is whole, so that not even a crash leaves half a note.

    False where the file system has no such files, which only Linux has. Raises FileExistsError.
    """
    if not hasattr(os, "O_TMPFILE"):
        return False
    try:
        file = os.open(".", os.O_TMPFILE | os.O_WRONLY | os.O_CLOEXEC, _MODE, dir_fd=folder)
    except OSError as error:
        if error.errno in _NO_UNNAMED:
            return False
        raise
    try:
        _write_all(file, data)
        try:
            os.link(f"/proc/self/fd/{file}", name, dst_dir_fd=folder, follow_symlinks=True)
        except OSError as error:
            if error.errno in (*_NO_UNNAMED, errno.EXDEV):
                return False
            raise
        return True
    finally:
        os.close(file)


def _write_aside(folder: int, name: str, data: bytes) -> bool:
    """Write a file under another name, and give it its own when it is whole: a crash leaves no half note.

    False where the file system has no second names. Raises FileExistsError.
    """
    import secrets

    aside = f".{secrets.token_hex(8)}.tmp"
    _write_named(folder, aside, data)
    try:
        os.link(aside, name, src_dir_fd=folder, dst_dir_fd=folder)
        return True
    except OSError as error:
        if error.errno in (*_NO_UNNAMED, errno.EXDEV, errno.EMLINK):
            return False
        raise
    finally:
        with suppress(OSError):
            os.unlink(aside, dir_fd=folder)


def _write_named(folder: int, name: str, data: bytes) -> None:
    """Write a file under its name, and remove it again where that fails. Raises FileExistsError."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    file = os.open(name, flags, _MODE, dir_fd=folder)
    try:
        _write_all(file, data)
    except BaseException:
        os.unlink(name, dir_fd=folder)
        raise
    finally:
        os.close(file)


def _write_all(file: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(file, left) :]
    os.fsync(file)  # some file systems notice only now that they are full
