"""Public: what one call leaves for the next ones, in private files or on a Redis server, in bounded room and time.

- `state_folder()`: where files of this kind belong.
- `read_file`, `replace_file`, `make_folder`: files of the user alone. They are replaced as a whole, and read only where
  no other user can have written them.
- `locked(path, seconds)`, `update_locked(path, seconds, change)`: locks between processes, which are waited for without
  polling and never beyond a limit.
- `ExpiringFiles`, `ExpiringRedis`: entries by key, each for its time, all of them within a limit.
- `RedisConnection`: commands to a Redis server, which take a bounded time, also where it or the network hangs.
- `known_outage(url)`, `record_outage(url, reason)`, `find_outage(url)`: a server that does not answer is found out once
  in a process.
- `StorageError`: a store cannot be used now; the message says which one and why.
"""

from __future__ import annotations

from ferrule.lazy import attach

TYPE_CHECKING = False

if TYPE_CHECKING:
    from ferrule.config.own_folders import state_folder
    from ferrule.storage.errors import StorageError
    from ferrule.storage.expiring_files import ExpiringFiles
    from ferrule.storage.expiring_redis import ExpiringRedis
    from ferrule.storage.locks import locked, update_locked
    from ferrule.storage.private_files import make_folder, read_file, replace_file
    from ferrule.storage.redis_connection import RedisConnection
    from ferrule.storage.redis_outage import find_outage, known_outage, record_outage

__all__ = [
    "ExpiringFiles",
    "ExpiringRedis",
    "RedisConnection",
    "StorageError",
    "find_outage",
    "known_outage",
    "locked",
    "make_folder",
    "read_file",
    "record_outage",
    "replace_file",
    "state_folder",
    "update_locked",
]

__getattr__ = attach(
    __name__,
    {
        "ExpiringFiles": "ferrule.storage.expiring_files",
        "ExpiringRedis": "ferrule.storage.expiring_redis",
        "RedisConnection": "ferrule.storage.redis_connection",
        "StorageError": "ferrule.storage.errors",
        "find_outage": "ferrule.storage.redis_outage",
        "known_outage": "ferrule.storage.redis_outage",
        "locked": "ferrule.storage.locks",
        "make_folder": "ferrule.storage.private_files",
        "read_file": "ferrule.storage.private_files",
        "record_outage": "ferrule.storage.redis_outage",
        "replace_file": "ferrule.storage.private_files",
        "state_folder": "ferrule.config.own_folders",
        "update_locked": "ferrule.storage.locks",
    },
)
