"""Which store it is: a Redis server where one is named, else files of this machine."""

from __future__ import annotations

from ferrule.storage.failures import StoreFailed
from ferrule.wrappers.cache.file_store import DEFAULT_MIB, FileStore

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, TypeAlias

    from ferrule.wrappers.cache.redis_store import RedisStore

    Store: TypeAlias = FileStore | RedisStore

VARIABLE, SETTING = "FERRULE_REDIS", "redis"


def store(redis: Any, settings: Mapping[str, Any], *, seconds: float | None = None) -> Store:
    """The store that the admin has chosen.

    redis: the URL that was found, in the environment or in the table, or nothing. settings: the table
    `[wrappers.cache]`, of which `max_mib` and `redis_seconds` count here. seconds: what Redis may take, whatever
    `redis_seconds` says.
    Raises StoreFailed for a setting that cannot be used.
    """
    if redis:
        if not isinstance(redis, str):
            raise StoreFailed(f"{SETTING} in [wrappers.cache] is no text")
        from ferrule.wrappers.cache.redis_store import SECONDS, RedisStore

        return RedisStore(redis, seconds or _positive(settings, "redis_seconds", SECONDS))
    return FileStore(limit=int(_positive(settings, "max_mib", DEFAULT_MIB) * (1 << 20)))


def _positive(settings: Mapping[str, Any], name: str, default: float) -> float:
    number = settings.get(name, default)
    if isinstance(number, bool) or not isinstance(number, int | float) or not 0 < number < 1e9:
        raise StoreFailed(f"{name} in [wrappers.cache] is no number above 0")
    return float(number)
