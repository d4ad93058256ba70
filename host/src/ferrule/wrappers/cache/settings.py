"""What the admin decides about the cache in the table `[wrappers.cache]`, and the store that follows from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from ferrule.storage.errors import StorageError
from ferrule.storage.state import CACHE, folder_of_tool
from ferrule.wrappers.cache.store import DEFAULT_MIB, FileStore, FileStores

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONMapping
    from ferrule.wrappers.cache.redis_store import RedisStore

    AnyStore: TypeAlias = FileStore | FileStores | RedisStore

NAME = "cache"
VARIABLE, SETTING = "FERRULE_REDIS", "redis"


def open_store(redis: object, settings: JSONMapping, *, tool: str = "", seconds: float | None = None) -> AnyStore:
    """The store that the admin has chosen: a Redis server where one is named, else files of this machine.

    Args:
        redis: the URL that was found, in the environment or in the table, or nothing.
        settings: the table `[wrappers.cache]`, of which `max_mib` and `redis_seconds` count here.
        seconds: what Redis may take, instead of `redis_seconds`.
        tool: whose files, else those of all tools.

    Raises:
        StorageError for a setting that cannot be used.
    """
    if not redis:
        total_bytes = int(_positive(settings, "max_mib", DEFAULT_MIB) * (1 << 20))
        return FileStore(folder_of_tool(CACHE, tool), total_bytes) if tool else FileStores(total_bytes)
    if not isinstance(redis, str):
        raise StorageError(f"{SETTING} in [wrappers.cache] is no text")
    from ferrule.wrappers.cache.redis_store import SECONDS, RedisStore

    return RedisStore(redis, seconds or _positive(settings, "redis_seconds", SECONDS))


def _positive(settings: JSONMapping, name: str, default: float) -> float:
    number = settings.get(name, default)
    if isinstance(number, bool) or not isinstance(number, int | float) or not 0 < number < 1e9:
        raise StorageError(f"{name} in [wrappers.cache] is no number above 0")
    return float(number)
