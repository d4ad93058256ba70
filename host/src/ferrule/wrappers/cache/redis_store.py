"""The store of several machines: a Redis server, which has the clock, the limit of memory, and the lock."""

from __future__ import annotations

import os
import time
from _thread import allocate_lock, start_new_thread

from ferrule.storage.failures import StoreFailed
from ferrule.storage.redis_connection import Connection
from ferrule.wrappers.cache import entries
from ferrule.wrappers.cache.keys import SHAPE, hashed
from ferrule.wrappers.cache.single_flight import ALONE, FOLLOWED, LEADS

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrule.wrappers.cache.entries import Entry

SECONDS = 0.3
"""All the time that a call spends on a server that does not answer as it should."""

_ENTRY, _FLIGHT = f"ferrule:cache:{SHAPE}:", f"ferrule:flight:{SHAPE}:"
_LARGEST = 8 << 20  # bytes of an entry
_LEASE, _RENEWAL = 3_000, 1.0  # milliseconds that a flight outlives who leads it; seconds between two renewals of that
_ENDED_LEASE = 2_000
_SHORTEST, _LONGEST = 0.02, 0.2  # seconds between two looks
_CONTRADICTIONS = 5  # times that a server may say that a flight has a leader, and who leads it is nobody
_PAGE = 500

_IF_MINE = "if redis.call('GET', KEYS[1]) == ARGV[1] then "
_RENEW = f"{_IF_MINE} return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0"
_END = f"redis.call('SET', KEYS[2], '1', 'PX', ARGV[2]) {_IF_MINE} return redis.call('DEL', KEYS[1]) end return 0"


class RedisStore:
    """Entries on a Redis server. seconds: what asking it may take in all. Raises StoreFailed for a URL that is none."""

    kind = "redis"

    def __init__(self, url: str, seconds: float = SECONDS) -> None:
        self._url = url
        self._connection = Connection(url, seconds)

    @property
    def place(self) -> str:
        """Where it is, for a person."""
        return self._connection.place

    def disclose(self, question: dict[str, object]) -> dict[str, object]:
        """A question as it may stand here: hashes of all that others could read."""
        return {**question, "arguments": hashed(question["arguments"]), "identity": hashed(question["identity"])}

    def get(self, key: str) -> Entry | None:
        """The entry of a key that may be given now, as old as the server's clock says. Raises StoreFailed."""
        return _entry(key, *self._connection.ask(("GET", _ENTRY + key), ("PTTL", _ENTRY + key)))

    def put(self, entry: Entry) -> None:
        """Keep an entry for its time, unless it is too large. Raises StoreFailed."""
        data = entries.write(entry)
        if len(data) <= _LARGEST:
            self._connection.ask(("SET", _ENTRY + entry.key, data, "PX", max(1, int(entry.seconds * 1000))))

    def flight(self, key: str) -> RedisFlight:
        """The flight of those that ask for a key now, on all machines."""
        return RedisFlight(key, self._url, self._connection)

    def all(self) -> Iterator[tuple[Entry, int]]:
        """Every entry, with its size in bytes. Raises StoreFailed."""
        cursor = b"0"
        while True:
            (page,) = self._connection.ask(("SCAN", cursor, "MATCH", f"{_ENTRY}*", "COUNT", _PAGE))
            cursor, names = _listed(page)
            commands = [command for name in names for command in (("GET", name), ("PTTL", name))]
            answers = self._connection.ask(*commands) if commands else []
            for index, name in enumerate(names):
                data, left = answers[2 * index : 2 * index + 2]
                entry = _entry(name.decode(errors="replace").removeprefix(_ENTRY), data, left)
                if entry is not None:
                    yield entry, len(data)
            if cursor == b"0":
                return

    def remove_unreadable(self) -> tuple[int, int]:
        """Nothing: the server ends the life of whatever was stored."""
        return 0, 0

    def close(self) -> None:
        """Hang up."""
        self._connection.close()

    def remove(self, key: str) -> bool:
        """Remove the entry of a key. Raises StoreFailed."""
        return bool(self._connection.ask(("DEL", _ENTRY + key))[0])


class RedisFlight:
    """A flight of one key, on all machines that use the server."""

    def __init__(self, key: str, url: str, connection: Connection) -> None:
        self._key = key
        self._url = url
        self._connection = connection
        self._token = os.urandom(8).hex()
        self._over = allocate_lock()
        self._leads = False

    def join(self, seconds: float) -> str:
        """Lead the flight where nobody does, else wait until it has ended, for some seconds at most.

        Raises StoreFailed.
        """
        limit, contradictions = time.monotonic() + seconds, 0
        flight = _FLIGHT + self._key
        while True:
            taken, leader = self._connection.patiently(
                ("SET", flight, self._token, "NX", "PX", _LEASE), ("GET", flight)
            )
            if taken is not None:
                self._lead()
                return LEADS
            if leader is None:
                contradictions += 1  # the lease has just run out, which does not happen again and again
                if contradictions > _CONTRADICTIONS:
                    raise StoreFailed("Redis cannot be used: it contradicts itself")
                time.sleep(_SHORTEST * _jitter())
            elif self._has_ended(flight, leader, limit):
                return FOLLOWED
            if time.monotonic() > limit:
                return ALONE

    def end(self) -> None:
        """Let those who wait go on. Does nothing where this process leads no flight. Raises StoreFailed."""
        if not self._leads:
            return
        self._leads = False
        self._over.release()
        keys = (_FLIGHT + self._key, _ended(self._key, self._token))
        self._connection.ask(("EVAL", _END, 2, *keys, self._token, _ENDED_LEASE))

    def _has_ended(self, flight: str, leader: bytes, limit: float) -> bool:
        """Wait until the leader has ended the flight; False where it has died, or the time is over."""
        pause, ended = _SHORTEST, _ended(self._key, leader.decode(errors="replace"))
        while time.monotonic() < limit:
            time.sleep(min(pause * _jitter(), max(0.0, limit - time.monotonic())))
            pause = min(pause * 1.5, _LONGEST)
            entry, now, mark = self._connection.patiently(
                ("EXISTS", _ENTRY + self._key), ("GET", flight), ("EXISTS", ended)
            )
            if entry or mark:
                return True
            if now != leader:
                return False
        return False

    def _lead(self) -> None:
        """Renew the lease as long as the tool works, from a thread, which dies with the process."""
        self._leads = True
        self._over.acquire()
        try:
            start_new_thread(self._renew, ())
        except RuntimeError:
            return  # without renewal it is over after some seconds, and somebody else asks, too

    def _renew(self) -> None:
        connection = None
        while not self._over.acquire(timeout=_RENEWAL):
            try:
                # A connection of its own: the tool's thread uses the other one.
                connection = connection or Connection(self._url, SECONDS)
                connection.patiently(("EVAL", _RENEW, 1, _FLIGHT + self._key, self._token, _LEASE))
            except StoreFailed:
                connection = None
        if connection is not None:
            connection.close()


def _listed(page: object) -> tuple[bytes, list[bytes]]:
    """A page of names, and from where the next one goes on."""
    if isinstance(page, list) and len(page) == 2:
        cursor, names = page
        if isinstance(cursor, bytes) and isinstance(names, list) and all(isinstance(name, bytes) for name in names):
            return cursor, names
    raise StoreFailed("Redis cannot be used: something else answers there")


def _entry(key: str, data: object, left: object) -> Entry | None:
    """The entry that the server sent; None where there is none, or it says not how long it lives."""
    if not isinstance(data, bytes) or not isinstance(left, int) or left <= 0:
        return None
    entry = entries.read(data, key)
    if entry is None:
        return None
    age = max(0.0, entry.seconds - left / 1000)
    present = entries.now()
    entry.stored = entries.Moment(present.wall - age, present.uptime - age, present.boot)
    return entry


def _ended(key: str, token: str) -> str:
    return f"{_FLIGHT}{key}:ended:{token}"


def _jitter() -> float:
    """Between a half and one and a half, so that those who wait do not all look at once."""
    return 0.5 + os.urandom(1)[0] / 255
