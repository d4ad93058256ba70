"""A small record that processes share, and machines where they have a Redis server: changed by one at a time."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ferrule.storage import StorageError, known_outage, record_outage, state_folder, update_locked
from ferrule.text import strict_json
from ferrule.text.sha256 import sha256_hex

if TYPE_CHECKING:
    from ferrule.storage import RedisConnection

OUTAGE = "state_unavailable"  # the event of a process that has found the server not to answer
_REDIS_SECONDS = 0.25
_LOCK_SECONDS = 1.0

Event = Callable[[Mapping[str, object]], None]
Change = Callable[[bytes, float], bytes]
"""What is written instead of what was there, empty where nothing was, at an instant of the wall's clock."""


class SharedRecord:
    """One record. identity: what tells it from others of its kind, of which only a hash is kept.

    A state folder, or a server, that cannot be used counts as one in which nothing is. event: takes what is to be said
    on stderr.
    """

    def __init__(self, kind: str, *identity: str, event: Event | None = None) -> None:
        name = sha256_hex(strict_json.dumps(list(identity)))[:32]
        self._event = event
        self._path = os.path.join(state_folder(), "breakers", f"{kind}-{name}" if kind else name)
        self._key = f"ferrule:breaker:{f'{kind}:{name}' if kind else name}"
        url = redis_url()
        self._url = "" if known_outage(url) else url  # "" once it has failed: files are used then

    def update(self, change: Change, kept_seconds: Callable[[bytes, float], int]) -> None:
        """Apply a change, while no other process does. kept_seconds: for which a server keeps what is written."""
        try:
            if self._url:
                self._update_in_redis(change, kept_seconds)
                return
        except Exception as error:  # noqa: BLE001 - a search must not fail for what is only a help
            reason = error.reason if isinstance(error, StorageError) else type(error).__name__
            if record_outage(self._url, reason) and self._event:
                content = f"FERRULE_REDIS cannot be used ({reason}); files are."
                self._event({"event": OUTAGE, "content": content})
            self._url = ""
        now = time.time()
        update_locked(self._path, _LOCK_SECONDS, lambda data: change(data, now))

    def _update_in_redis(self, change: Change, kept_seconds: Callable[[bytes, float], int]) -> None:
        """By the clock of the server; again from the start where another process has written meanwhile."""
        from ferrule.storage import RedisConnection

        connection = RedisConnection(self._url, _REDIS_SECONDS)
        try:
            while not self._is_done(connection, change, kept_seconds):
                pass  # the connection's time is bounded
        finally:
            connection.close()

    def _is_done(
        self, connection: RedisConnection, change: Change, kept_seconds: Callable[[bytes, float], int]
    ) -> bool:
        _, data, clock = connection.ask(("WATCH", self._key), ("GET", self._key), ("TIME",))
        now = _instant(clock)
        before = data if isinstance(data, bytes) else b""
        after = change(before, now)
        if after == before:
            return True
        kept = kept_seconds(after, now)
        *_, done = connection.ask(("MULTI",), ("SET", self._key, after, "EX", kept), ("EXEC",))
        return done is not None


def redis_url() -> str:
    """The server that keeps the records, "" where files do."""
    return os.environ.get("FERRULE_REDIS", "").strip()


def _instant(clock: object) -> float:
    """What the server answers to TIME, in seconds since 1970. Raises ValueError for anything else."""
    if isinstance(clock, list) and len(clock) == 2:
        seconds, microseconds = clock
        if isinstance(seconds, bytes) and isinstance(microseconds, bytes):
            return int(seconds) + int(microseconds) / 1e6
    raise ValueError("it is no answer of Redis")
