"""Where artifacts are kept: on a Redis server where one is configured, else in files of the user."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ferrule.storage.errors import StorageError
from ferrule.wrappers.artifacts.handles import digest
from ferrule.wrappers.artifacts.settings import MAX_SECONDS

if TYPE_CHECKING:
    from ferrule.storage.expiring_files import ExpiringFiles
    from ferrule.storage.expiring_redis import ExpiringRedis
    from ferrule.wrappers.artifacts.settings import Settings

MAX_BYTES = 64 << 20  # of one body: it is read, and its digest compared, for each page of it
_PREFIX = "ferrule:artifact:v1:"
_REDIS_SECONDS = 3.0  # for connecting and asking together


class ArtifactStore:
    """The artifacts that the settings lead to, each under the digest of its body. Nothing is open between two uses.

    folder: for the files, the one in the state folder where it is not named. The message of each StorageError is a
    sentence that holds neither a path nor a URL.
    """

    def __init__(self, settings: Settings, folder: str = "") -> None:
        self._settings = settings
        self._folder = folder

    def is_ready(self) -> bool:
        """Whether `put` may be expected to succeed."""
        try:
            with self._open() as entries:
                return entries.is_ready()
        except StorageError:
            return False

    def put(self, name: str, body: bytes, seconds: float) -> float:
        """Keep a body under its digest; the instant, in seconds since 1970, at which it expires.

        A body that is there already stays for as long as was promised before, or longer. Raises StorageError.
        """
        with self._open() as entries:
            expires = entries.put(name, body, seconds, never_shortens=True)
        if expires is None:
            raise StorageError("The result is larger than an artifact may be.")
        return expires

    def get(self, name: str) -> bytes | None:
        """The body of a digest; None where there is none, it has expired, or was changed. Raises StorageError."""
        with self._open() as entries:
            body = entries.get(name)
        return body if body is not None and digest(body) == name else None

    def expires(self, name: str) -> float | None:
        """When a body expires, in seconds since 1970; None where there is none. Raises StorageError."""
        with self._open() as entries:
            return entries.expires(name)

    @contextmanager
    def _open(self) -> Iterator[ExpiringFiles | ExpiringRedis]:
        try:
            entries = _in_redis(self._settings) if self._settings.redis else _in_files(self._settings, self._folder)
            try:
                yield entries
            finally:
                entries.close()
        except StorageError as error:
            raise StorageError(f"Artifacts cannot be kept: {error.reason}.") from None


def _in_redis(settings: Settings) -> ExpiringRedis:
    from ferrule.storage import ExpiringRedis, RedisConnection

    return ExpiringRedis(RedisConnection(settings.redis, _REDIS_SECONDS), _PREFIX, max_bytes=MAX_BYTES)


def _in_files(settings: Settings, folder: str) -> ExpiringFiles:
    from ferrule.storage import ExpiringFiles, state_folder

    return ExpiringFiles(
        folder or f"{state_folder()}/artifacts",
        name="the artifacts' folder",
        total_bytes=settings.total_bytes,
        max_bytes=MAX_BYTES,
        max_seconds=MAX_SECONDS,
    )
