"""Which calls have begun, on whichever machine: a balancer may send a request again, and no tool is called twice.

A balancer gives each request that it takes a key in the header `Idempotency-Key`, and sends the request to another
replica with the same key where the first one has not begun to answer. The replica whose tool is to be called claims
the key on Redis before. A second claim is refused: the answer to the first is not kept, so it cannot be given again.
"""

from __future__ import annotations

import asyncio
import os
import re
import threading
import uuid
from collections.abc import Callable

from ferrule.errors import WorkerLost
from ferrule.storage import RedisConnection, StorageError

HEADER = "idempotency-key"
_VARIABLE = "FERRULE_REDIS"
_KEY = re.compile(r'(?P<quote>"?)(?P<key>[A-Za-z0-9._-]{8,128})(?P=quote)')  # a string of RFC 8941, or bare
_KEY_SECONDS = 3600  # no balancer tries for longer
_REDIS_SECONDS = 2.0
_NO_STORE = f"A balancer numbers requests, and {_VARIABLE} is not set: one that it sends twice may call a tool twice."
_NO_HEADER = (
    f"{_VARIABLE} is set, and a call has come without the header Idempotency-Key. A balancer between replicas has to "
    "send one, or a request that it sends twice may call a tool twice."
)
_HAS_BEGUN = "The call has begun on another server, which was lost; whether the tool has done its work is not known."


class IdempotencyKeys:
    """Lets the call of each key begin once. say: is called, once, with why that cannot be made sure.

    Where Redis is missing or does not answer, calls begin all the same: a tool that cannot be called would be worse.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        self._url = os.environ.get(_VARIABLE, "").strip()
        self._say: Callable[[str], None] | None = say
        self._lock = threading.Lock()
        self._connection: RedisConnection | None = None

    async def claim(self, header: str) -> None:
        """Let the call begin whose key the header carries. Raises WorkerLost where it has begun before."""
        found = _KEY.fullmatch(header)
        if not found:
            return
        if not self._url:
            self._say_once(_NO_STORE)
            return
        try:
            is_first = await asyncio.to_thread(self._is_first, found["key"])
        except StorageError as failure:
            self._say_once(f"{failure}. A request that a balancer sends twice may call a tool twice.")
            return
        if not is_first:
            raise WorkerLost(_HAS_BEGUN, has_begun=True)

    async def check(self) -> None:
        """Say at once what keeps keys from being claimed, where a Redis is named."""
        if not self._url:
            return
        try:
            await asyncio.to_thread(self._ask, ("PING",))
        except StorageError as failure:
            self._say_once(f"{failure}. A request that a balancer sends twice may call a tool twice.")

    def note_missing(self) -> None:
        """A call has come without a key. Say so once where a Redis is named, as replicas of a balancer have one."""
        if self._url:
            self._say_once(_NO_HEADER)

    def close(self) -> None:
        """Let go of the connection."""
        with self._lock:
            connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _is_first(self, key: str) -> bool:
        name, own = f"ferrule:begun:{key}", uuid.uuid4().hex
        claim = ("SET", name, own, "NX", "EX", _KEY_SECONDS)
        try:
            return self._ask(claim) is not None
        except StorageError:
            # A connection that was kept may have been closed meanwhile.
            return self._ask(claim) is not None or self._ask(("GET", name)) == own.encode()

    def _ask(self, command: tuple[str | int, ...]) -> object:
        """One command, on the connection that is kept."""
        with self._lock:
            connection = self._connection or RedisConnection(self._url, _REDIS_SECONDS)
            connection.allow(_REDIS_SECONDS)
            try:
                reply = connection.ask(command)[0]
            except BaseException:
                self._connection = None
                connection.close()
                raise
            self._connection = connection
            return reply

    def _say_once(self, text: str) -> None:
        say, self._say = self._say, None
        if say is not None:
            say(text)
