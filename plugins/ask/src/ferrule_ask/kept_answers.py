"""Answers that outlive the program which paid for them: private files of the user, or entries on a Redis server.

The key is a hash of the first request and of where it goes: the question, the model, its settings and the tools.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from math import isfinite
from typing import TYPE_CHECKING

from ferrule.storage import ExpiringFiles, ExpiringRedis, RedisConnection, StorageError, state_folder
from ferrule.text.sha256 import sha256_hex
from ferrule_ask.answer import Answer
from ferrule_ask.loop_thread import in_thread

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONObject

_UNITS = {"s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0, "w": 604_800.0}
_TEXT = re.compile(r"(\d+(?:\.\d+)?) ?([smhdw])")
_MAX_SECONDS = 10 * 365 * 86_400.0
_MAX_BYTES, _TOTAL_BYTES = 8 << 20, 1 << 30
_REDIS_SECONDS = 2.0
_PREFIX = "ferrule:answers:1:"


def lifetime(text: float | str) -> float:
    """Seconds, from a number of them or a text such as "30d". Raises ValueError."""
    seconds = _seconds_in(text) if isinstance(text, str) else float(text)
    if not (isfinite(seconds) and 0 <= seconds <= _MAX_SECONDS):
        raise ValueError('remember has to be a number of seconds, or a text such as "30d", "12h" or "90m"')
    return seconds


def _seconds_in(text: str) -> float:
    found = _TEXT.fullmatch(text.strip().lower())
    return float(found[1]) * _UNITS[found[2]] if found else -1.0


class KeptAnswer:
    """The place of one answer.

    A store that cannot be used costs nothing but what it would have saved.

    Args:
        seconds: how long it is kept.
        redis: a URL, else files.
        warn: takes a sentence.
    """

    def __init__(self, identity: bytes, seconds: float, redis: str, warn: Callable[[str], None]) -> None:
        self._key = sha256_hex(identity)
        self._seconds = seconds
        self._redis = redis
        self._warn = warn

    async def get(self) -> Answer | None:
        """The answer, None where none is kept."""
        try:
            data = await in_thread(lambda: self._work(lambda store: store.get(self._key)))
        except (StorageError, OSError) as error:
            self._tell(error)
            return None
        return self._read(data) if isinstance(data, bytes) else None

    async def put(self, answer: Answer) -> None:
        """Keep an answer."""
        data = json.dumps({"key": self._key, "answer": answer.as_dict()}).encode()
        try:
            await in_thread(lambda: self._work(lambda store: store.put(self._key, data, self._seconds)))
        except (StorageError, OSError) as error:
            self._tell(error)

    def _work(self, work: Callable[[ExpiringFiles | ExpiringRedis], object]) -> object:
        if not self._redis:
            return work(_files())
        store = ExpiringRedis(RedisConnection(self._redis, _REDIS_SECONDS), _PREFIX, max_bytes=_MAX_BYTES)
        try:
            return work(store)
        finally:
            store.close()

    def _read(self, data: bytes) -> Answer | None:
        try:
            facts: JSONObject = json.loads(data)
            if facts["key"] != self._key:
                return None
            known = {name: value for name, value in facts["answer"].items() if name in Answer._fields}
            answer = Answer(**known)
        except (ValueError, TypeError, KeyError, AttributeError):
            return None
        return answer._replace(remembered=True) if isinstance(answer.text, str) else None

    def _tell(self, error: Exception) -> None:
        reason = error.reason if isinstance(error, StorageError) else str(error)
        self._warn(f"Answers cannot be kept: {reason}.")


def _files() -> ExpiringFiles:
    return ExpiringFiles(
        os.path.join(state_folder(), "answers"),
        name="the folder of answers",
        total_bytes=_TOTAL_BYTES,
        max_bytes=_MAX_BYTES,
        max_seconds=_MAX_SECONDS,
        has_ledger=True,
    )
