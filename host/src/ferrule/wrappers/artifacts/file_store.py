"""Artifacts as files, `ab/abcd…` in a folder of the user: mode 0600, written whole or not at all.

A file's time of modification is the instant at which it expires, so no second file and no header can disagree with it.
Nothing is synced to the disk: a file that a crash has torn no longer fits its name, and is not found.
"""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ferrule.storage.private_files import is_ours, make_folder
from ferrule.wrappers.artifacts.handles import digest, name_in
from ferrule.wrappers.artifacts.settings import LONGEST
from ferrule.wrappers.artifacts.store import LARGEST, StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator

_LOCK_SECONDS = 2.0
_POLL = 0.01
_ABANDONED = 600.0  # seconds after which whoever began to write a file is taken for dead
_BEGUN = "begun-"
_CHUNK = 1 << 20


class FileStore:
    """The artifacts in one folder. total: bytes that all of them may take together."""

    def __init__(self, folder: str, total: int) -> None:
        self._folder = folder
        self._total = total

    def put(self, name: str, body: bytes, seconds: int) -> int:
        """Keep a body for `seconds`; see Store. Those that expire first make room for it."""
        if len(body) > min(self._total, LARGEST):
            raise StoreUnavailable("The result is larger than an artifact may be.")
        path = self._path(name)
        try:
            make_folder(os.path.dirname(path))
            with _locked(os.path.join(self._folder, ".lock")):
                now = int(time.time())
                expires = max(now + seconds, _expiry(path, now))
                self._make_room(len(body), path, now)
                self._write(path, body, expires)
        except OSError as error:
            raise StoreUnavailable(f"Artifacts cannot be kept: {error.strerror}.") from None
        return expires

    def is_ready(self) -> bool:
        """Whether the folder is there, or can be made, and is the user's to write to."""
        try:
            make_folder(self._folder)
        except OSError:
            return False
        return os.access(self._folder, os.W_OK)

    def get(self, name: str) -> bytes | None:
        """The body of this digest, or None; see Store."""
        try:
            # O_NONBLOCK, since a FIFO in the file's place would hang the call.
            file = os.open(self._path(name), os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:
            return None
        try:
            facts = os.fstat(file)
            body = _body(file) if _is_ours(facts) else None
        except OSError:
            return None
        finally:
            os.close(file)
        if not _is_alive(facts, time.time()):
            self._forget()
        return body if body is not None and digest(body) == name else None

    def expires(self, name: str) -> int | None:
        """When this artifact expires; see Store."""
        return _expiry(self._path(name), int(time.time())) or None

    def _path(self, name: str) -> str:
        return os.path.join(self._folder, name[:2], name)

    def _forget(self) -> None:
        """Remove what has expired, also where nothing is ever stored again."""
        try:
            with _locked(os.path.join(self._folder, ".lock")):
                self._make_room(0, "", int(time.time()))
        except OSError:
            return  # whoever stores the next one tries again

    def _make_room(self, needed: int, own: str, now: int) -> None:
        """Remove what has expired, and then as much as it takes, what would expire first before the rest."""
        kept = []
        for entry in self._files():
            facts = entry.stat(follow_symlinks=False)
            if entry.path == own:
                continue
            if _is_over(entry.name, facts, now):
                _remove(entry.path)
            else:
                kept.append((facts.st_mtime, facts.st_size, entry.path))
        taken = needed + sum(size for _, size, _ in kept)
        for _, size, path in sorted(kept):
            if taken <= self._total:
                break
            _remove(path)
            taken -= size

    def _files(self) -> Iterator[os.DirEntry[str]]:
        """What the store has written; whatever else lies in its folder is left alone."""
        for entry in _entries(self._folder):
            if entry.name.startswith(_BEGUN):
                yield entry
            elif len(entry.name) == 2 and entry.is_dir(follow_symlinks=False):
                yield from (inner for inner in _entries(entry.path) if name_in(inner.name))

    def _write(self, path: str, body: bytes, expires: int) -> None:
        begun = os.path.join(self._folder, f"{_BEGUN}{os.getpid()}-{time.monotonic_ns()}")
        file = os.open(begun, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            try:
                view = memoryview(body)
                while view:
                    view = view[os.write(file, view) :]
                os.utime(file, (expires, expires))
            finally:
                os.close(file)
            os.rename(begun, path)
        except BaseException:
            _remove(begun)
            raise


def _entries(folder: str) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            yield from entries
    except OSError:
        return


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        return


def _is_over(name: str, facts: os.stat_result, now: int) -> bool:
    """Whether a file may go: it has expired, or it was begun and never finished."""
    if name.startswith(_BEGUN):
        return facts.st_mtime < now - _ABANDONED
    return not _is_alive(facts, now)


def _is_alive(facts: os.stat_result, now: float) -> bool:
    # Nothing lives longer than that: such a time is from a clock that was wrong.
    return now < facts.st_mtime <= now + LONGEST


def _expiry(path: str, now: int) -> int:
    """When the artifact that is there already expires; 0 where there is none."""
    try:
        facts = os.lstat(path)
    except OSError:
        return 0
    return int(facts.st_mtime) if _is_alive(facts, now) else 0


def _is_ours(facts: os.stat_result) -> bool:
    return is_ours(facts) and facts.st_size <= LARGEST and _is_alive(facts, time.time())


def _body(file: int) -> bytes:
    body = bytearray()
    while chunk := os.read(file, _CHUNK):
        body += chunk
        if len(body) > LARGEST:
            break
    return bytes(body)


@contextmanager
def _locked(path: str) -> Iterator[None]:
    """Alone among the processes that write; where that cannot be had soon, together with them.

    Then all of them together may take more room than they should, until the next one comes.
    """
    import fcntl

    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)
    try:
        limit = time.monotonic() + _LOCK_SECONDS
        while time.monotonic() < limit:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                time.sleep(_POLL)
        yield
    finally:
        os.close(file)
