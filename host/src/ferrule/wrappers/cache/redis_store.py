"""The store of several machines: a Redis server, which has the clock, the limit of memory, and the lock."""

from __future__ import annotations

import os
import time
from _thread import allocate_lock, start_new_thread
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ferrule.storage.errors import StorageError
from ferrule.storage.expiring_redis import ExpiringRedis
from ferrule.storage.redis_connection import RedisConnection
from ferrule.wrappers.cache import entries
from ferrule.wrappers.cache.keys import SHAPE
from ferrule.wrappers.cache.single_flight import FOLLOWER, LEADER, TIMEOUT
from ferrule.wrappers.cache.store import Store

if TYPE_CHECKING:
    from ferrule.wrappers.cache.entries import Entry

SECONDS = 0.25
"""All the time that a call spends on a server that does not answer as it should."""

_PREFIX = f"ferrule:cache:{SHAPE}:"
_MAX_BYTES = 8 << 20
_LEASE_MILLISECONDS = 3_000  # by which a flight outlives a leader that has died
_RENEWAL_SECONDS = 1.0
_ENDED_MILLISECONDS = 2_000
_MIN_PAUSE_SECONDS, _MAX_PAUSE_SECONDS = 0.02, 0.2  # between two looks
_MAX_CONTRADICTIONS = 5  # times that a server may say that a flight has a leader, and who leads it is none

_IF_MINE = "if redis.call('GET', KEYS[1]) == ARGV[1] then "
_RENEW = f"{_IF_MINE} return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0"
_END = f"redis.call('SET', KEYS[2], '1', 'PX', ARGV[2]) {_IF_MINE} return redis.call('DEL', KEYS[1]) end return 0"


class RedisStore(Store):
    """Entries on a Redis server. seconds: what asking it may take in all. Raises StorageError for an unusable URL."""

    kind = "redis"
    hashed_parts = ("arguments", "identity")  # since others can read them

    def __init__(self, url: str, seconds: float = SECONDS) -> None:
        self._url = url
        self._redis = ExpiringRedis(RedisConnection(url, seconds), _PREFIX, max_bytes=_MAX_BYTES)
        super().__init__(self._redis)

    def flight(self, key: str) -> RedisSingleFlight:
        """The flight of those that ask for a key now, on all machines."""
        return RedisSingleFlight(key, self._url, self._redis)

    def all(self) -> Iterator[tuple[Entry, int]]:
        """Every entry, with its size in bytes."""
        for key, data, left in self._redis.all():
            entry = _dated(key, data, left)
            if entry is not None:
                yield entry, len(data)

    def _entry(self, key: str) -> Entry | None:
        found = self._redis.read(key)
        return _dated(key, *found) if found else None


class RedisSingleFlight:
    """The flight of one key, on all machines that use the server."""

    def __init__(self, key: str, url: str, kept: ExpiringRedis) -> None:
        self._entry = kept.name_of(key)
        self._flight = f"ferrule:flight:{SHAPE}:{key}"
        self._url = url
        self._connection = kept.connection
        self._token = os.urandom(8).hex()
        self._over = allocate_lock()
        self._is_leader = False

    def join(self, seconds: float) -> str:
        """Lead the flight where no other process does, else wait until it has ended, for some seconds at most.

        Raises StorageError.
        """
        limit, contradictions = time.monotonic() + seconds, 0
        while True:
            taken, leader = self._connection.poll(
                ("SET", self._flight, self._token, "NX", "PX", _LEASE_MILLISECONDS), ("GET", self._flight)
            )
            if taken is not None:
                self._lead()
                return LEADER
            if not isinstance(leader, bytes):
                contradictions += 1  # the lease has just run out, which does not happen again and again
                if contradictions > _MAX_CONTRADICTIONS:
                    raise StorageError("Redis cannot be used: it contradicts itself")
                time.sleep(_MIN_PAUSE_SECONDS * _jitter())
            elif self._has_ended(leader, limit):
                return FOLLOWER
            if time.monotonic() > limit:
                return TIMEOUT

    def end(self) -> None:
        """Let those who wait go on. Does nothing where this process leads no flight. Raises StorageError."""
        if not self._is_leader:
            return
        self._is_leader = False
        self._over.release()
        keys = (self._flight, self._ended(self._token))
        self._connection.ask(("EVAL", _END, 2, *keys, self._token, _ENDED_MILLISECONDS))

    def _has_ended(self, leader: bytes, limit: float) -> bool:
        """Wait until the leader has ended the flight; False where it has died, or the time is over."""
        pause, ended = _MIN_PAUSE_SECONDS, self._ended(leader.decode(errors="replace"))
        while time.monotonic() < limit:
            time.sleep(min(pause * _jitter(), max(0.0, limit - time.monotonic())))
            pause = min(pause * 1.5, _MAX_PAUSE_SECONDS)
            entry, now, mark = self._connection.poll(("EXISTS", self._entry), ("GET", self._flight), ("EXISTS", ended))
            if entry or mark:
                return True
            if now != leader:
                return False
        return False

    def _lead(self) -> None:
        """Renew the lease as long as the tool works, from a thread, which dies with the process."""
        self._is_leader = True
        self._over.acquire()
        try:
            start_new_thread(self._renew, ())
        except RuntimeError:
            return  # without renewal it is over after some seconds, and another process asks, too

    def _renew(self) -> None:
        connection = None
        while not self._over.acquire(timeout=_RENEWAL_SECONDS):
            try:
                # A connection of its own: the tool's thread uses the other one.
                connection = connection or RedisConnection(self._url, SECONDS)
                connection.poll(("EVAL", _RENEW, 1, self._flight, self._token, _LEASE_MILLISECONDS))
            except StorageError:
                connection = None
        if connection is not None:
            connection.close()

    def _ended(self, token: str) -> str:
        return f"{self._flight}:ended:{token}"


def _dated(key: str, data: bytes, left: float) -> Entry | None:
    """The entry, as old as the server's clock says; None where it is not as it was stored."""
    entry = entries.read(data, key)
    if entry is None:
        return None
    age = max(0.0, entry.seconds - left)
    present = entries.now()
    entry.stored = entries.Moment(present.wall - age, present.uptime - age, present.boot)
    return entry


def _jitter() -> float:
    """Between a half and one and a half, so that those who wait do not all look at once."""
    return 0.5 + os.urandom(1)[0] / 255
