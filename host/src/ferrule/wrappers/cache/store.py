"""What keeps entries: files of one machine, and the flights of those that ask at the same time; or see redis_store."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ferrule.config.own_folders import state_folder
from ferrule.storage.errors import unusable
from ferrule.storage.expiring_files import ExpiringFiles
from ferrule.storage.private_files import files_in
from ferrule.storage.state import CACHE, folders_of_tools
from ferrule.wrappers.cache import entries
from ferrule.wrappers.cache.keys import hashed

if TYPE_CHECKING:
    from ferrule.storage.expiring_redis import ExpiringRedis
    from ferrule.text.json_types import JSONObject
    from ferrule.wrappers.cache.entries import Entry
    from ferrule.wrappers.cache.single_flight import SingleFlight

DEFAULT_MIB = 256
_ABANDONED_FLIGHT_SECONDS = 3600.0


class Store:
    """Entries by their keys. Every method raises StorageError where the store cannot be used.

    kind: `files` or `redis`. place: where it is, for the user. remove(key): whether there was such an entry. close():
    hangs up.
    """

    kind = ""
    hashed_parts: tuple[str, ...] = ()
    """Parts of a question of which hashes alone may be kept here."""

    def __init__(self, documents: ExpiringFiles | ExpiringRedis) -> None:
        self._documents = documents
        self.place = documents.place
        self.remove = documents.remove
        self.close = documents.close

    def redacted_question(self, question: JSONObject) -> JSONObject:
        """A question as it may be kept here."""
        return {**question, **{part: hashed(question[part]) for part in self.hashed_parts}}

    def get(self, key: str) -> Entry | None:
        """The entry of a key that may be given now."""
        entry = self._entry(key)
        return entry if entry and entry.is_live(entries.now()) else None

    def put(self, entry: Entry) -> None:
        """Keep an entry, unless it is too large for the store."""
        self._documents.put(entry.key, entries.write(entry), entry.seconds)

    def remove_unreadable(self) -> tuple[int, int]:
        """Remove what is no entry instead of one: torn, altered, of another version; how many, and bytes."""
        return 0, 0

    def _entry(self, key: str) -> Entry | None:
        raise NotImplementedError


class FileStore(Store):
    """Entries in a folder, for the user alone. total_bytes: what they may take together."""

    kind = "files"
    hashed_parts = ("identity",)  # an admin may have written anything into the settings and the environment

    def __init__(self, folder: str = "", total_bytes: int = DEFAULT_MIB << 20) -> None:
        self._name = "the cache's folder"
        self._files = ExpiringFiles(
            folder or os.path.join(state_folder(), CACHE),
            name=self._name,
            total_bytes=total_bytes,
            max_bytes=entries.MAX_BYTES,
            has_ledger=True,
        )
        super().__init__(self._files)
        self._flights = os.path.join(self.place, "flights")

    def put(self, entry: Entry) -> None:
        """Keep an entry, unless it is too large for the store."""
        from ferrule.wrappers.cache.single_flight import remove_abandoned

        super().put(entry)
        for flight in files_in(self._flights):
            try:
                is_abandoned = flight.stat(follow_symlinks=False).st_ctime < time.time() - _ABANDONED_FLIGHT_SECONDS
            except OSError:
                continue  # it has ended
            if is_abandoned:
                remove_abandoned(flight.path)

    def flight(self, key: str) -> SingleFlight:
        """The flight of those that ask for a key now."""
        from ferrule.wrappers.cache.single_flight import SingleFlight

        return SingleFlight(os.path.join(self._flights, key), self._name)

    def all(self) -> Iterator[tuple[Entry, int]]:
        """Every entry that can be read, also the expired ones, with the bytes of its file."""
        for key, size in self._files.all():
            entry = self._entry(key)
            if entry is not None:
                yield entry, size

    def remove_unreadable(self) -> tuple[int, int]:
        removed = [size for key, size in self._files.all() if self._entry(key) is None and self.remove(key)]
        return len(removed), sum(removed)

    def _entry(self, key: str) -> Entry | None:
        data = self._files.read(key)
        return entries.read(data, key) if data else None


class FileStores(FileStore):
    """The entries of all tools, each of which keeps its own in a folder of its own. For looking at and removing."""

    def __init__(self, total_bytes: int = DEFAULT_MIB << 20) -> None:
        super().__init__(total_bytes=total_bytes)
        try:
            folders = folders_of_tools(CACHE)[1:]
        except OSError as error:
            raise unusable(self._name, error) from None
        self._of_tools = [FileStore(folder, total_bytes) for folder in folders]
        self._remove_own, self.remove = self.remove, self._remove

    def get(self, key: str) -> Entry | None:
        """The entry of a key that may be given now."""
        return next(filter(None, (store.get(key) for store in self._of_tools)), None) or super().get(key)

    def all(self) -> Iterator[tuple[Entry, int]]:
        """Every entry that can be read, also the expired ones, with the bytes of its file."""
        yield from super().all()
        for store in self._of_tools:
            yield from store.all()

    def remove_unreadable(self) -> tuple[int, int]:
        """Remove what is no entry instead of one, see `Store`."""
        found = [super().remove_unreadable(), *(store.remove_unreadable() for store in self._of_tools)]
        return sum(number for number, _ in found), sum(size for _, size in found)

    def _remove(self, key: str) -> bool:
        removed = [store.remove(key) for store in self._of_tools]
        return self._remove_own(key) or any(removed)
