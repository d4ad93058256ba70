"""A note put in its place: whole or not at all, and never instead of another."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from contextlib import suppress

from ferrule_opennotes import errors
from ferrule_opennotes.create.folders import FolderError, open_folder

_MODE = 0o644
_MAX_PATH_BYTES = 4095  # bytes that Linux takes; what lies deeper could not be read by its path
_NO_SECOND_NAMES = (errno.EOPNOTSUPP, errno.EPERM, errno.EACCES, errno.ENOSYS, errno.EINVAL, errno.EMLINK)


def place(root: str, folder: Sequence[str], name: str, data: bytes) -> str:
    """Write a new file; return its path from the root, with "/" between its parts.

    Args:
        root: the notebook's, which is made where it does not exist, as the CLI does.
        folder: the way to the folder from there, made as far as need be.

    Raises:
        PATH_TRAVERSAL, NOTE_EXISTS, and WRITE_FAILED.
    """
    path = "/".join([*folder, name])
    if len(os.fsencode(os.path.join(root, path))) > _MAX_PATH_BYTES:
        raise errors.write_failed(path, f"its path would be longer than {_MAX_PATH_BYTES:,} bytes")
    try:
        with suppress(FileExistsError):
            os.makedirs(root)
        with open_folder(root, folder) as (descriptor, parts):
            _write(descriptor, name, data)
            return "/".join([*parts, name])
    except FileExistsError:
        raise errors.note_exists(path) from None
    except FolderError as error:
        raise errors.write_failed(path, f"{error} is a file, not a folder") from None
    except OSError as error:
        raise errors.write_failed(path, (error.strerror or str(error)).lower()) from None


def _write(folder: int, name: str, data: bytes) -> None:
    """Write a file under another name, and give it its own when it is whole, so that a crash leaves no half note.

    Where the file system has no second names, it is written under its own at once. Raises FileExistsError.
    """
    aside = f".{os.urandom(8).hex()}.tmp"
    _write_new(folder, aside, data)
    try:
        os.link(aside, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError as error:
        if error.errno not in _NO_SECOND_NAMES:
            raise
        _write_new(folder, name, data)
    finally:
        with suppress(OSError):
            os.unlink(aside, dir_fd=folder)


def _write_new(folder: int, name: str, data: bytes) -> None:
    """Write a file, and remove it again where that fails. Raises FileExistsError."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with open(os.open(name, flags, _MODE, dir_fd=folder), "wb") as file:
        try:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())  # some file systems notice only now that they are full
        except BaseException:
            os.unlink(name, dir_fd=folder)
            raise
