"""Where the state of the pace is kept: a file for the processes of a user, or a Redis server for several machines.

It is held for the moment in which it changes, never while anybody waits. A place that cannot be used counts as one that
says nothing; then what this process knows counts.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from ferrule.storage import (
    RedisConnection,
    StorageError,
    known_outage,
    record_outage,
    state_folder,
    update_locked,
)

if TYPE_CHECKING:
    from ferrule.storage.redis_connection import Reply
    from ferrule_ask.pace.clock import Clock

    Change = Callable[[bytes, float], bytes]
    """Takes what is kept, empty where nothing is, and the instant; returns what is to be kept."""

_LOCK_SECONDS = 0.25
_REDIS_SECONDS = 0.25
_KEPT_MILLISECONDS = 3_600_000
_MAX_CONFLICTS = 50
_PREFIX = "ferrule:pace:1:"


class Store:
    """One state, by its name.

    Args:
        redis: the URL of a server, empty for a file.
        failed: takes why Redis cannot be used.
    """

    def __init__(self, name: str, clock: Clock, redis: str = "", failed: Callable[[str], None] | None = None) -> None:
        self._name = name
        self._clock = clock
        self._url = redis
        self._failed = failed or (lambda reason: None)
        self._known = b""
        self._redis: RedisConnection | None = None
        self._offset = 0.0  # of the server's clock, in real seconds
        self._process = os.getpid()
        self._lock = threading.Lock()

    @property
    def is_far(self) -> bool:
        """Whether an update goes through the network."""
        return bool(self._url) and not known_outage(self._url)

    def update(self, change: Change) -> None:
        """Replace what is kept by what `change` makes of it, while nobody else does. Blocks. Raises what it raises."""
        with self._lock:
            if self.is_far:
                try:
                    return self._update_far(change)
                except StorageError as error:
                    self._hang_up()
                    if record_outage(self._url, error.reason):
                        self._failed(error.reason)
            return self._update_here(change)

    def close(self) -> None:
        """Hang up; the next update connects again."""
        with self._lock:
            self._hang_up()

    def _update_here(self, change: Change) -> None:
        def replace(data: bytes) -> bytes:
            self._known = change(data or self._known, self._clock.now())
            return self._known

        update_locked(os.path.join(state_folder(), "pace", self._name), _LOCK_SECONDS, replace)

    def _update_far(self, change: Change) -> None:
        if self._process != os.getpid():
            self._hang_up()  # in a fork the connection is still the parent's
            self._process = os.getpid()
        connection, key = self._redis or self._connect(), _PREFIX + self._name
        for _ in range(_MAX_CONFLICTS):
            data = connection.poll(("WATCH", key), ("GET", key))[1]
            before = data if isinstance(data, bytes) else b""
            try:
                after = change(before, self._clock.at(time.time() + self._offset))
            except BaseException:
                connection.poll(("UNWATCH",))
                raise
            kept = ("SET", key, after, "PX", _KEPT_MILLISECONDS)
            if connection.poll(("MULTI",), kept, ("EXEC",))[2] is not None:
                return
        raise StorageError("Redis cannot be used: the state of the pace changes all the time")

    def _connect(self) -> RedisConnection:
        connection = RedisConnection(self._url, _REDIS_SECONDS)
        (now,) = connection.ask(("TIME",))
        self._offset = _seconds(now) - time.time()
        self._redis = connection
        return connection

    def _hang_up(self) -> None:
        if self._redis is not None and self._process == os.getpid():
            self._redis.close()
        self._redis = None


def _seconds(reply: Reply) -> float:
    try:
        seconds, microseconds = reply  # type: ignore[misc] # what is no pair is refused
        return int(seconds) + int(microseconds) / 1e6  # type: ignore[arg-type] # what is no number is caught
    except (TypeError, ValueError):
        raise StorageError("Redis cannot be used: something else answers there") from None
