"""Which calls have begun, on whichever machine: a balancer may send a request again, and no tool is called twice.

A balancer gives each request that it takes a key in the header `Idempotency-Key`, and sends the request to
another replica with the same number where the first one has not begun to answer. The replica whose tool is to be called
says so on Redis before; whoever comes later calls nothing.
"""

from __future__ import annotations

import asyncio
import os
import re
from typing import TYPE_CHECKING

from ferrule.errors import WorkerLost
from ferrule.storage.failures import StoreFailed
from ferrule.storage.redis_connection import Connection

if TYPE_CHECKING:
    from collections.abc import Callable

HEADER = "ferrule-call"
_VARIABLE = "FERRULE_REDIS"
_NUMBER = re.compile(r"[A-Za-z0-9._-]{8,128}")
_KEPT = 3600  # seconds; no balancer tries for longer
_SECONDS = 2.0  # that Redis may take
_NO_STORE = f"A balancer numbers requests, and {_VARIABLE} is not set: one that it sends twice may call a tool twice."
_HAS_BEGUN = "The call has begun on another server, which was lost; whether the tool has done its work is not known."


class IdempotencyKeys:
    """Lets each numbered call begin once. say: is told, once, why that cannot be made sure.

    Where Redis is missing or does not answer, calls begin all the same: a tool that nobody could call would be worse.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        self._url = os.environ.get(_VARIABLE, "").strip()
        self._say: Callable[[str], None] | None = say

    async def begin(self, number: str) -> None:
        """Let the call of that number begin. Raises WorkerLost where it has begun before."""
        if not _NUMBER.fullmatch(number):
            return
        if not self._url:
            self._tell(_NO_STORE)
            return
        try:
            is_first = await asyncio.to_thread(self._is_first, number)
        except StoreFailed as failure:
            self._tell(f"{failure}. A request that a balancer sends twice may call a tool twice.")
            return
        if not is_first:
            raise WorkerLost(_HAS_BEGUN, has_begun=True)

    def _is_first(self, number: str) -> bool:
        connection = Connection(self._url, _SECONDS)
        try:
            return connection.ask(("SET", f"ferrule:begun:{number}", "1", "NX", "EX", _KEPT))[0] is not None
        finally:
            connection.close()

    def _tell(self, text: str) -> None:
        say, self._say = self._say, None
        if say is not None:
            say(text)
