"""The files of the journal: lines are appended under a lock, and the oldest file goes when the room is full.

`calls.jsonl` is written; `calls.jsonl.1` and `calls.jsonl.2` are older. A line is one write at the file's end, so that
lines of two processes never mix, even where the lock is not to be had. What a full disk has cut off is taken back.
"""

from __future__ import annotations

import fcntl
import os
import stat

from ferrule.storage.private_files import make_folder

OLDER = 2  # files beside the one that is written
_LOCK_SECONDS = 0.25  # a process that was stopped in the middle of a line holds up no call for longer
_ATTEMPTS = 4  # where other processes rotate the files at the same time
_MIN_FILE_BYTES = 1 << 17  # more than a line has
_OPEN = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


def append(path: str, line: bytes, max_bytes: int) -> None:
    """Write a line, which ends with a newline. max_bytes: of all files together. Raises OSError."""
    limit = max(max_bytes // (OLDER + 1), _MIN_FILE_BYTES)
    for attempt in range(_ATTEMPTS):
        file = _open(path)
        try:
            is_locked = _lock(file)
            is_last = attempt == _ATTEMPTS - 1
            size = os.fstat(file).st_size
            if not is_locked or is_last:
                return _write(file, line, size if is_locked else None)
            if not _is_at(file, path):
                continue  # another process has rotated the files since this one was opened
            if not size or size + len(line) <= limit:
                return _write(file, line, size)
            rotate(path)
        finally:
            _unlock(file)
            os.close(file)
    return None


def check_writable(path: str) -> str:
    """Why no line can be appended; an empty text where one can. Changes nothing."""
    folder = path
    while not os.path.lexists(folder):
        folder = os.path.dirname(folder)
    if folder != path:
        can_be_made = os.path.isdir(folder) and os.access(folder, os.W_OK) and not _is_of_the_kernel(folder)
        return "" if can_be_made else f"{folder} cannot be written"
    try:
        os.close(_open(path))
    except OSError as error:
        return error.strerror or type(error).__name__
    return ""


def _is_of_the_kernel(folder: str) -> bool:
    """Whether it lies where the kernel alone makes files, whatever the modes of the folders say."""
    return (os.path.realpath(folder) + "/").startswith(("/proc/", "/sys/"))


def rotate(path: str) -> None:
    """Make each file the next older one. The lock of the one that is written must be held. Raises OSError."""
    for number in range(OLDER, 0, -1):
        newer = f"{path}.{number - 1}" if number > 1 else path
        try:
            os.replace(newer, f"{path}.{number}")
        except FileNotFoundError:
            continue


def _open(path: str) -> int:
    try:
        file = os.open(path, _OPEN, 0o600)
    except FileNotFoundError:
        make_folder(os.path.dirname(path))
        file = os.open(path, _OPEN, 0o600)
    facts = os.fstat(file)
    if stat.S_ISREG(facts.st_mode) and facts.st_uid == os.geteuid() and not facts.st_mode & 0o022:
        return file
    os.close(file)
    raise PermissionError(0, "it is no file of this user that no other user may write to", path)


def _lock(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        from ferrule.storage.locks import lock  # not above: it waits in a thread, and few calls have to wait

        return lock(file, _LOCK_SECONDS)
    except OSError:
        return False  # a file system without locks; what is lost then is rotation, and no line
    return True


def _unlock(file: int) -> None:
    """Closing would not do: a process that was forked meanwhile holds the same lock."""
    try:
        fcntl.flock(file, fcntl.LOCK_UN)
    except OSError:
        return


def _is_at(file: int, path: str) -> bool:
    try:
        return os.path.samestat(os.fstat(file), os.stat(path))
    except FileNotFoundError:
        return False


def _write(file: int, line: bytes, size: int | None) -> None:
    """Append a line whole or not at all. size: of the file so far, where the lock is held."""
    end = os.fstat(file).st_size if size is None else size
    if end and os.pread(file, 1, end - 1) != b"\n":
        line = b"\n" + line  # a process that was killed in a line has spoilt its own alone
    written = os.write(file, line)
    if written < len(line):
        if size is not None:
            os.ftruncate(file, size)
        raise OSError(28, "No space left on device")
