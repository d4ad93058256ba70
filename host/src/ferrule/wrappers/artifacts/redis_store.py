"""Artifacts in a Redis, for agents on many machines; it ends their lives itself."""

from __future__ import annotations

import time

from ferrule.storage.failures import StoreFailed
from ferrule.storage.redis_connection import Connection
from ferrule.wrappers.artifacts.handles import digest
from ferrule.wrappers.artifacts.store import LARGEST, StoreUnavailable

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

_KEY = "ferrule:artifact:v1:"
_NO_REDIS = "Artifacts cannot be kept: Redis cannot be used: something else answers there."
_SECONDS = 3.0  # for connecting and asking together


class RedisStore:
    """The artifacts in one Redis. url: as `Connection` takes it; no message repeats it, as it may hold a password."""

    def __init__(self, url: str) -> None:
        self._url = url

    def put(self, name: str, body: bytes, seconds: int) -> int:
        """Keep a body for `seconds`; see Store."""
        if len(body) > LARGEST:
            raise StoreUnavailable("The result is larger than an artifact may be.")
        now = int(time.time())
        with _Asking(self._url) as ask:
            longest = max(seconds, _number(ask("TTL", _KEY + name)))
            if ask("SET", _KEY + name, body, "EX", longest) != b"OK":
                raise StoreUnavailable(_NO_REDIS)
        return now + longest

    def is_ready(self) -> bool:
        """Whether the server answers."""
        try:
            with _Asking(self._url) as ask:
                return bool(ask("PING"))
        except StoreUnavailable:
            return False

    def get(self, name: str) -> bytes | None:
        """The body of this digest, or None; see Store."""
        with _Asking(self._url) as ask:
            size = _number(ask("STRLEN", _KEY + name))
            body = ask("GET", _KEY + name) if 0 < size <= LARGEST else None
        return body if isinstance(body, bytes) and digest(body) == name else None

    def expires(self, name: str) -> int | None:
        """When this artifact expires; see Store."""
        with _Asking(self._url) as ask:
            left = _number(ask("TTL", _KEY + name))
        return int(time.time()) + left if left > 0 else None


def _number(answer: object) -> int:
    if isinstance(answer, int):
        return answer
    raise StoreUnavailable(_NO_REDIS)


class _Asking:
    """A connection while it is entered; what fails in it is the store's failure."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._connection: Connection | None = None

    def __enter__(self) -> Any:
        return self._ask

    def __exit__(self, *_: object) -> None:
        if self._connection is not None:
            self._connection.close()

    def _ask(self, *command: str | int | float | bytes) -> Any:
        try:
            if self._connection is None:
                self._connection = Connection(self._url, _SECONDS)
            return self._connection.ask(command)[0]
        except StoreFailed as error:
            raise StoreUnavailable(f"Artifacts cannot be kept: {error}.") from None
