"""Entries that expire, as private files in bounded room: `ab/abcd…`, written whole or not at all.

A file's time of modification is the instant at which it expires, so no second file and no header can disagree with it.
Nothing is forced to the disk: the bytes should prove themselves whole, by their own hash or by being named after it.
"""

from __future__ import annotations

import os
import time
from contextlib import ExitStack, contextmanager, suppress

from ferrule.storage.errors import StorageError, unusable
from ferrule.storage.private_files import files_in, make_folder, overwrite, read_file, remove_file, replace_file
from ferrule.text import strict_json
from ferrule.text.sha256 import is_sha256_hex

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator

_LOCK_SECONDS = 2.0
_SWEEP_SECONDS = 3600.0
_ABANDONED_SECONDS = 600.0  # after which a file that was being written belongs to no process any more
_BLOCK_BYTES = 4096  # what the smallest file takes of a disk
_KEPT_SHARE = 0.8  # of the room stays when the oldest have gone, so that not every entry has to look at all
_MAX_LEDGER_BYTES = 1024


class ExpiringFiles:
    """Entries in a folder, each under a key of 64 hexadecimal digits.

    has_ledger is for many small entries: a file says how much they take in blocks of the disk, so that `put` looks at
    no other file. When they take too much, or an hour has passed, those that have expired go, and then the oldest until
    a fifth is free. Without it, for a few large ones, each `put` looks at all, and what expires first goes, as little
    as it takes; and where the lock cannot be had, all together may take too much until the next `put`.

    Args:
        name: the folder in the messages of StorageError, which hold no path, such as "the cache's folder".
        total_bytes: what all entries may take together.
        max_bytes: what one may.
        max_seconds: the longest life; an entry that claims more is from a clock that was wrong, and has expired.
    """

    def __init__(
        self,
        folder: str,
        *,
        name: str,
        total_bytes: int,
        max_bytes: int,
        max_seconds: float = float("inf"),
        has_ledger: bool = False,
    ) -> None:
        self.place = folder
        self.total_bytes = total_bytes
        self._name = name
        self._max_bytes = max_bytes
        self._max_seconds = max_seconds
        self._has_ledger = has_ledger
        self._kept_share = _KEPT_SHARE if has_ledger else 1.0

    def is_ready(self) -> bool:
        """Whether the folder is there, or can be made, and is the user's to write to."""
        try:
            make_folder(self.place)
        except OSError:
            return False
        return os.path.isdir(self.place) and os.access(self.place, os.W_OK | os.X_OK)

    def put(self, key: str, data: bytes, seconds: float, *, never_shortens: bool = False) -> float | None:
        """Keep an entry for some seconds; when it expires, in seconds since 1970. None where it is too large.

        Args:
            never_shortens: an entry of the same key that would live longer lengthens the new one's life.

        Raises:
            StorageError, and leaves the entry that was there.
        """
        size, path = self._charge(len(data)), self.path_of(key)
        if len(data) > self._max_bytes or size > self.total_bytes * self._kept_share:
            return None
        with self._usable(), self._alone() as ledger:
            make_folder(os.path.dirname(path))
            expires = max(time.time() + seconds, (self.expires(key) or 0.0) if never_shortens else 0.0)
            self._make_room(ledger, size, path)
            replace_file(path, data, modified=expires)
        return expires

    def get(self, key: str) -> bytes | None:
        """The entry of a key; None if there is none, it cannot be read, or it has expired."""
        try:
            found = self.read(key)
        except StorageError:
            return None
        if found is not None and self.expires(key) is None:
            self._forget()
            return None
        return found

    def read(self, key: str) -> bytes | None:
        """The entry of a key, also where it has expired by the clock. Raises StorageError where it cannot be read."""
        with self._usable():
            return read_file(self.path_of(key), self._max_bytes)

    def expires(self, key: str) -> float | None:
        """When the entry of a key expires, in seconds since 1970; None if there is none that has not."""
        try:
            instant = os.lstat(self.path_of(key)).st_mtime
        except OSError:
            return None
        return instant if self._is_live(instant) else None

    def all(self) -> Iterator[tuple[str, int]]:
        """The key of each entry, also of the expired ones, with the bytes of its file. Raises StorageError."""
        with self._usable():
            found = [(file.name, facts.st_size) for file, facts in self._files() if is_sha256_hex(file.name)]
        yield from found

    def remove(self, key: str) -> bool:
        """Remove the entry of a key; False where that cannot be."""
        return remove_file(self.path_of(key))

    def close(self) -> None:
        """Nothing is held open."""

    def path_of(self, key: str) -> str:
        """Where the file of an entry is, or would be."""
        return os.path.join(self.place, key[:2], key)

    def _is_live(self, expires: float) -> bool:
        now = time.time()
        return now < expires <= now + self._max_seconds

    def _charge(self, size: int) -> int:
        return -(-size // _BLOCK_BYTES) * _BLOCK_BYTES if self._has_ledger else size

    @contextmanager
    def _usable(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise unusable(self._name, error) from None

    @contextmanager
    def _alone(self) -> Iterator[int | None]:
        """Alone among the processes that write; the descriptor of the ledger, if there is one."""
        from ferrule.storage.locks import locked

        with ExitStack() as stack:
            try:
                path = os.path.join(self.place, "ledger" if self._has_ledger else ".lock")
                file = stack.enter_context(locked(path, _LOCK_SECONDS))
            except TimeoutError:
                if self._has_ledger:  # which two at once would spoil
                    raise StorageError(f"{self._name} is busy", "it is busy") from None
            yield file if self._has_ledger else None

    def _forget(self) -> None:
        """Remove what has expired, also where nothing is ever stored again."""
        try:
            with self._alone():
                self._sweep(0, "")
        except (OSError, StorageError):
            return  # the next `put` tries again

    def _make_room(self, ledger: int | None, size: int, own: str) -> None:
        """Make room for a file at the path `own`, and note in the ledger that it is coming.

        A process that dies between the two leaves a number that is too large, which the next sweep corrects.
        """
        if ledger is None:
            self._sweep(size, own)
            return
        taken, swept = _read_ledger(ledger)
        if taken + size > self.total_bytes or not 0 <= time.time() - swept < _SWEEP_SECONDS:
            taken, swept = self._sweep(size, own), time.time()
        overwrite(ledger, strict_json.dumps({"bytes": taken + size, "swept": swept}))

    def _sweep(self, size: int, own: str) -> int:
        """Remove what has expired or was never finished, and others until `size` bytes have room; what the rest takes.

        The file at the path `own` is about to be replaced, and does not count.
        """
        rest, taken, abandoned = [], 0, time.time() - _ABANDONED_SECONDS
        for file, facts in self._files():
            is_entry = is_sha256_hex(file.name)
            # A draft may already have the time of its entry, which lies ahead.
            written = min(facts.st_mtime, facts.st_ctime)
            is_over = not self._is_live(facts.st_mtime) if is_entry else written < abandoned
            if file.path == own or (is_over and remove_file(file.path)) or not is_entry:
                continue
            rest.append((facts.st_ctime_ns if self._has_ledger else facts.st_mtime_ns, facts.st_size, file.path))
            taken += self._charge(facts.st_size)
        room = self.total_bytes * self._kept_share if taken + size > self.total_bytes else float("inf")
        for _, file_size, path in sorted(rest):
            if taken + size <= room:
                break
            taken -= self._charge(file_size) if remove_file(path) else 0
        return taken

    def _files(self) -> Iterator[tuple[os.DirEntry[str], os.stat_result]]:
        """The entries, and the drafts of entries; other files in the folder are left alone."""
        for shard in files_in(self.place):
            if len(shard.name) == 2 and shard.is_dir(follow_symlinks=False):
                for file in files_in(shard.path):
                    is_draft = file.name[0] == "." and is_sha256_hex(file.name[1:65])
                    if is_draft or is_sha256_hex(file.name):
                        with suppress(FileNotFoundError):  # another process has removed it
                            yield file, file.stat(follow_symlinks=False)


def _read_ledger(file: int) -> tuple[int, float]:
    """The bytes that the entries take, and when they were last looked at; a time long past where it says nothing."""
    try:
        facts = strict_json.loads(os.pread(file, _MAX_LEDGER_BYTES, 0))
        if isinstance(facts, dict):
            return max(0, int(facts["bytes"])), float(facts["swept"])
    except (ValueError, TypeError, KeyError, OverflowError):
        pass
    return 0, 0.0
