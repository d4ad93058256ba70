"""The store of one machine: a file for each entry, in folders by the first two digits of its key.

Together they take no more than a limit. A ledger says how much they take, so that storing looks at no other file; when
they take too much, or an hour has passed, all are looked at: those that have expired go, then the oldest. A process
that dies between the ledger and the file leaves a number that is too large, which the next look corrects.
"""

from __future__ import annotations

import os
import time

from ferrule.storage import private_files
from ferrule.storage.failures import StoreFailed
from ferrule.storage.state import state_folder
from ferrule.text import strict_json
from ferrule.wrappers.cache import entries
from ferrule.wrappers.cache.keys import hashed
from ferrule.wrappers.cache.single_flight import Flight, tidy

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrule.wrappers.cache.entries import Entry

DEFAULT_MIB = 256
_FULL_SHARE = 0.8  # of the limit stays when the oldest have gone, so that not every entry has to look at all
_BLOCK = 4096  # bytes: what the smallest file takes of a disk
_SWEEP_SECONDS = 3600.0
_LOCK_SECONDS, _POLL = 2.0, 0.01
_ABANDONED = 3600.0  # seconds after which a file that is waiting for its place, or of a flight, belongs to nobody
_KEY_DIGITS = 64


class FileStore:
    """Entries in a folder. limit: bytes that they may take together."""

    kind = "files"

    def __init__(self, folder: str = "", limit: int = DEFAULT_MIB << 20) -> None:
        self.folder = folder or os.path.join(state_folder(), "cache")
        self.limit = limit

    @property
    def place(self) -> str:
        """Where it is, for a person."""
        return self.folder

    def disclose(self, question: dict[str, object]) -> dict[str, object]:
        """A question as it may stand here: the arguments as they are, since the user alone reads them.

        Of the settings and the environment there are hashes, whatever an admin may have written into them.
        """
        return {**question, "identity": hashed(question["identity"])}

    def get(self, key: str) -> Entry | None:
        """The entry of a key that may be given now. Raises StoreFailed where the folder cannot be read."""
        entry = self._read(key)
        return entry if entry and entry.is_live(entries.now()) else None

    def put(self, entry: Entry) -> None:
        """Keep an entry, unless it is too large for the store. Raises StoreFailed."""
        data = entries.write(entry)
        size = _charged(len(data))
        if len(data) > entries.LARGEST or size > self.limit * _FULL_SHARE:
            return
        self._make_room(size)
        private_files.write(self._path(entry.key), data, entry.stored.wall + entry.seconds)

    def flight(self, key: str) -> Flight:
        """The flight of those that ask for a key now."""
        return Flight(os.path.join(self.folder, "flights", key))

    def all(self) -> Iterator[tuple[Entry, int]]:
        """Every entry that can be read, also the expired ones, with the bytes of its file. Raises StoreFailed."""
        for file in self._files():
            entry = self._read(file.name)
            if entry is not None:
                yield entry, _size(file)

    def remove(self, key: str) -> bool:
        """Remove the entry of a key; False where that cannot be."""
        return private_files.remove(self._path(key))

    def remove_unreadable(self) -> tuple[int, int]:
        """Remove what stands in an entry's place and is none: torn, altered, of another version; how many, and bytes.

        Raises StoreFailed.
        """
        number = size = 0
        for file in list(self._files()):
            bytes_of_it = _size(file)
            if self._read(file.name) is None and self.remove(file.name):
                number, size = number + 1, size + bytes_of_it
        return number, size

    def close(self) -> None:
        """Nothing is held open."""

    def _path(self, key: str) -> str:
        return os.path.join(self.folder, key[:2], key)

    def _read(self, key: str) -> Entry | None:
        data = private_files.read(self._path(key), entries.LARGEST)
        return entries.read(data, key) if data else None

    def _files(self) -> Iterator[os.DirEntry[str]]:
        for shard in private_files.listed(self.folder):
            if len(shard.name) == 2 and shard.is_dir(follow_symlinks=False):
                for file in private_files.listed(shard.path):
                    if len(file.name) == _KEY_DIGITS:
                        yield file
                    elif file.name.startswith("."):
                        _remove_abandoned(file)

    def _make_room(self, size: int) -> None:
        """Write into the ledger that so many bytes are coming, once there is room for them."""
        import fcntl

        file = private_files.open_shared(os.path.join(self.folder, "ledger"))
        try:
            _lock(file)
            taken, swept = _ledger(file)
            if taken + size > self.limit or not 0 <= time.time() - swept < _SWEEP_SECONDS:
                taken, swept = self._sweep(size), time.time()
            data = strict_json.dumps({"bytes": taken + size, "swept": swept})
            os.ftruncate(file, 0)
            os.pwrite(file, data, 0)
            fcntl.flock(file, fcntl.LOCK_UN)
        except OSError as error:
            raise private_files.failed(error) from None
        finally:
            os.close(file)

    def _sweep(self, coming: int) -> int:
        """Remove what has expired, and where the rest is too much, the oldest; the bytes that stay."""
        now, kept, taken = time.time(), [], 0
        for file in self._files():
            try:
                facts = file.stat(follow_symlinks=False)
            except OSError:
                continue  # another process has removed it
            if facts.st_mtime > now or not private_files.remove(file.path):
                kept.append((facts.st_ctime_ns, _charged(facts.st_size), file.path))
                taken += _charged(facts.st_size)
        if taken + coming > self.limit:
            taken -= _remove_oldest(kept, taken + coming - int(self.limit * _FULL_SHARE))
        for flight in private_files.listed(os.path.join(self.folder, "flights")):
            if _is_abandoned(flight):
                tidy(flight.path)
        return taken


def _remove_oldest(files: list[tuple[int, int, str]], surplus: int) -> int:
    """Remove the oldest files, until a surplus of bytes is gone; the bytes that are."""
    removed = 0
    for _, size, path in sorted(files):
        if removed >= surplus:
            break
        if private_files.remove(path):
            removed += size
    return removed


def _charged(size: int) -> int:
    return -(-size // _BLOCK) * _BLOCK


def _size(file: os.DirEntry[str]) -> int:
    try:
        return file.stat(follow_symlinks=False).st_size
    except OSError:
        return 0


def _is_abandoned(file: os.DirEntry[str]) -> bool:
    try:
        return file.stat(follow_symlinks=False).st_ctime < time.time() - _ABANDONED
    except OSError:
        return False


def _remove_abandoned(file: os.DirEntry[str]) -> None:
    if _is_abandoned(file):
        private_files.remove(file.path)


def _ledger(file: int) -> tuple[int, float]:
    """The bytes that the entries take, and when they were last looked at; a time long past where it says nothing."""
    try:
        facts = strict_json.loads(os.pread(file, 1024, 0))
        if isinstance(facts, dict):
            return max(0, int(facts["bytes"])), float(facts["swept"])
    except (ValueError, TypeError, KeyError, OverflowError):
        pass
    return 0, 0.0


def _lock(file: int) -> None:
    import fcntl

    limit = time.monotonic() + _LOCK_SECONDS
    while True:
        try:
            return fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > limit:
                raise StoreFailed("the cache's folder is busy") from None
            time.sleep(_POLL)
