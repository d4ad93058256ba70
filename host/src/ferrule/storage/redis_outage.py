"""Which Redis servers do not answer: a process finds out once, its forks know it, and then files are used.

Without it, each part that uses the server would wait for it by itself, and the waits would add up.
"""

from __future__ import annotations

import time

from ferrule.storage.errors import StorageError

LOOK_SECONDS = 0.25
_KNOWN_SECONDS = 30.0  # after which a process that lives longer than a call looks again

_looks: dict[
    str, tuple[str, float]
] = {}  # by URL: why it cannot be used, empty where it can, and until when that counts


def known_outage(url: str) -> str:
    """Why a server cannot be used, as far as this process has found out lately; "" where nothing is known."""
    reason, until = _looks.get(url, ("", 0.0))
    return reason if time.monotonic() < until else ""


def record_outage(url: str, reason: str) -> bool:
    """A server cannot be used. True where that was not known, so that whoever found out says it, and nobody else."""
    is_new = not known_outage(url)
    _looks[url] = (reason, time.monotonic() + _KNOWN_SECONDS)
    return is_new


def find_outage(url: str, seconds: float = LOOK_SECONDS) -> tuple[str, bool]:
    """Why a server cannot be used, "" where it can, and whether that is news; asks it where it is not known.

    seconds: that it has for its answer. Raises nothing.
    """
    reason, until = _looks.get(url, ("", 0.0))
    if time.monotonic() < until:
        return reason, False
    from ferrule.storage.redis_connection import RedisConnection

    try:
        connection = RedisConnection(url, seconds)
        try:
            connection.ask(("PING",))
        finally:
            connection.close()
    except StorageError as error:
        return error.reason, record_outage(url, error.reason)
    _looks[url] = ("", time.monotonic() + _KNOWN_SECONDS)
    return "", False
