"""Which calls have begun, on whichever machine: a balancer may send a request again, and no tool is called twice.

A balancer gives each request that it takes a key in the header `Idempotency-Key`, and sends the request to another
replica with the same key where the first one has not begun to answer. The replica whose tool is to be called claims
the key on Redis before. A second claim is refused: the answer to the first is not kept, so it cannot be given again.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable

from ferrule.errors import WorkerLost
from ferrule.storage import RedisConnection, StorageError

HEADER = "idempotency-key"
_VARIABLE = "FERRULE_REDIS"
_KEY = re.compile(r'(?P<quote>"?)(?P<key>[A-Za-z0-9._-]{8,128})(?P=quote)')  # a string of RFC 8941, or bare
_KEY_SECONDS = 3600  # no balancer tries for longer
_REDIS_SECONDS = 2.0
_NO_STORE = f"A balancer numbers requests, and {_VARIABLE} is not set: one that it sends twice may call a tool twice."
_HAS_BEGUN = "The call has begun on another server, which was lost; whether the tool has done its work is not known."


class IdempotencyKeys:
    """Lets the call of each key begin once. say: is called, once, with why that cannot be made sure.

    Where Redis is missing or does not answer, calls begin all the same: a tool that cannot be called would be worse.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        self._url = os.environ.get(_VARIABLE, "").strip()
        self._say: Callable[[str], None] | None = say

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

    def _is_first(self, key: str) -> bool:
        connection = RedisConnection(self._url, _REDIS_SECONDS)
        try:
            return connection.ask(("SET", f"ferrule:begun:{key}", "1", "NX", "EX", _KEY_SECONDS))[0] is not None
        finally:
            connection.close()

    def _say_once(self, text: str) -> None:
        say, self._say = self._say, None
        if say is not None:
            say(text)
