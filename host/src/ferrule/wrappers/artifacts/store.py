"""Where artifacts are kept: Redis where one is configured, else files of the user.

A store has four methods. `is_ready` looks whether anything can be kept. `put` keeps a body for some seconds and says
until when. `get` gives it back as long as it has not expired, or None. Both hold the body against its name, so what was
changed is not there. `expires` says until when a body is kept.
"""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Protocol

    from ferrule.wrappers.artifacts.settings import Settings

    class Store(Protocol):
        """What keeps artifacts."""

        def put(self, name: str, body: bytes, seconds: int) -> int:
            """Keep a body under its digest; the instant, in seconds since 1970, at which it expires.

            A body that is there already stays for as long as was promised before, or longer. Raises StoreUnavailable.
            """

        def is_ready(self) -> bool:
            """Whether `put` may be expected to succeed."""

        def get(self, name: str) -> bytes | None:
            """The body of this digest; None where there is none, or it has expired. Raises StoreUnavailable."""

        def expires(self, name: str) -> int | None:
            """The instant, in seconds since 1970, until which a body is kept; None where there is none.

            Raises StoreUnavailable.
            """


LARGEST = 64 << 20  # bytes of one body: it is read, and its digest compared, for each page of it


class StoreUnavailable(Exception):
    """Nothing can be kept, or nothing be asked. The message is a sentence that tells neither a path nor a URL."""


def store_of(settings: Settings) -> Store:
    """The store that the settings ask for. Nothing is opened yet."""
    if settings.redis:
        from ferrule.wrappers.artifacts.redis_store import RedisStore

        return RedisStore(settings.redis)
    import os

    from ferrule.storage.state import state_folder
    from ferrule.wrappers.artifacts.file_store import FileStore

    return FileStore(os.path.join(state_folder(), "artifacts"), settings.total)
