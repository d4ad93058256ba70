"""Entries that expire, on a Redis server, which ends their lives by its own clock and has its own limit of memory."""

from __future__ import annotations

import time

from ferrule.storage.errors import StorageError

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ferrule.storage.redis_connection import RedisConnection, Reply

_PAGE_ENTRIES = 500


class ExpiringRedis:
    """Entries under a prefix, such as "ferrule:cache:1:", by keys of 64 hexadecimal digits.

    connection: bounds the time that all of it takes. max_bytes: what one entry may take. Every method raises
    StorageError where the server cannot be used, or is none.
    """

    def __init__(self, connection: RedisConnection, prefix: str, *, max_bytes: int) -> None:
        self.connection = connection
        self._prefix = prefix
        self._max_bytes = max_bytes

    @property
    def place(self) -> str:
        """Where they are, without the password."""
        return self.connection.place

    def is_ready(self) -> bool:
        """Whether the server answers. Raises nothing."""
        try:
            return bool(self.connection.ask(("PING",))[0])
        except StorageError:
            return False

    def put(self, key: str, data: bytes, seconds: float, *, never_shortens: bool = False) -> float | None:
        """Keep an entry for some seconds; when it expires, in seconds since 1970. None where it is too large.

        Args:
            never_shortens: an entry of the same key that would live longer lengthens the new one's life.
        """
        if len(data) > self._max_bytes:
            return None
        name = self.name_of(key)
        promised = _number(self.connection.ask(("PTTL", name))[0]) if never_shortens else 0
        milliseconds = max(1, int(seconds * 1000), promised)
        if self.connection.ask(("SET", name, data, "PX", milliseconds)) != [b"OK"]:
            raise _something_else()
        return time.time() + milliseconds / 1000

    def get(self, key: str) -> bytes | None:
        """The entry of a key; None if there is none, or one that is too large or would live for ever."""
        found = self.read(key)
        return found[0] if found else None

    def read(self, key: str) -> tuple[bytes, float] | None:
        """The entry of a key, as by `get`, and the seconds after which it expires."""
        return next(self._read_all([self.name_of(key)]))

    def expires(self, key: str) -> float | None:
        """When the entry of a key expires, in seconds since 1970; None if there is none."""
        left = _number(self.connection.ask(("PTTL", self.name_of(key)))[0])
        return time.time() + left / 1000 if left > 0 else None

    def all(self) -> Iterator[tuple[str, bytes, float]]:
        """The key of each entry, what it holds, and the seconds after which it expires."""
        cursor = b"0"
        while True:
            (page,) = self.connection.ask(("SCAN", cursor, "MATCH", f"{self._prefix}*", "COUNT", _PAGE_ENTRIES))
            cursor, names = _page(page)
            for name, found in zip(names, self._read_all(names), strict=True):
                if found:
                    yield name.decode(errors="replace").removeprefix(self._prefix), *found
            if cursor == b"0":
                return

    def remove(self, key: str) -> bool:
        """Remove the entry of a key; False if there is none."""
        return bool(self.connection.ask(("DEL", self.name_of(key)))[0])

    def close(self) -> None:
        """Hang up."""
        self.connection.close()

    def name_of(self, key: str) -> str:
        """What the server calls an entry."""
        return self._prefix + key

    def _read_all(self, names: Sequence[str | bytes]) -> Iterator[tuple[bytes, float] | None]:
        # One byte more than an entry may have shows that it is too large.
        commands = [(("GETRANGE", name, 0, self._max_bytes), ("PTTL", name)) for name in names]
        replies = iter(self.connection.ask(*(command for pair in commands for command in pair)))
        for data, left in zip(replies, replies, strict=True):
            if not isinstance(data, bytes):
                raise _something_else()
            seconds = _number(left) / 1000
            yield (data, seconds) if data and seconds > 0 and len(data) <= self._max_bytes else None


def _page(reply: Reply) -> tuple[bytes, list[bytes]]:
    """A page of names, and the cursor of the next one."""
    cursor, names = reply if isinstance(reply, list) and len(reply) == 2 else (None, None)
    known = [name for name in names if isinstance(name, bytes)] if isinstance(names, list) else []
    if not isinstance(cursor, bytes) or known != names:
        raise _something_else()
    return cursor, known


def _number(reply: Reply) -> int:
    if isinstance(reply, int):
        return reply
    raise _something_else()


def _something_else() -> StorageError:
    return StorageError("Redis cannot be used: something else answers there")
