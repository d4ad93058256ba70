"""Where artifacts are kept: on a Redis server where one is configured, else in files of the user."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from ferrule.content.artifacts.handles import MIME_TYPE, UNKNOWN_TYPE, digest, name_in
from ferrule.content.artifacts.settings import MAX_SECONDS, Settings
from ferrule.storage.errors import StorageError
from ferrule.text import strict_json

if TYPE_CHECKING:
    from ferrule.storage.expiring_files import ExpiringFiles
    from ferrule.storage.expiring_redis import ExpiringRedis

Found = TypeVar("Found")

MAX_BYTES = 64 << 20  # of one body: it is read, and its digest compared, for each page of it
_PREFIX = "ferrule:artifact:v1:"
_REDIS_SECONDS = 3.0  # for connecting and asking together
_LABEL_OF = b"label of "  # before a name; the digest of both is the key of the label


class Label(NamedTuple):
    """What an artifact is. name: for the reader, may be empty."""

    media_type: str
    name: str = ""


class Artifact(NamedTuple):
    """One artifact. name: its digest. expires: in seconds since 1970. path: of its file, empty where it is none."""

    name: str
    label: Label
    size: int
    expires: float
    path: str


class ArtifactStore:
    """The artifacts that the settings lead to, each under the digest of its body. Nothing is open between two uses.

    Where the Redis does not answer, files are used; what is not found in them then is a StorageError. new_outage: why,
    where this process did not know it before. folder: for the files, the one in the state folder where it is not named.
    tool: whose artifacts they are. It keeps them in a folder of its own, and finds no others there; without a name, all
    are found.
    The message of each StorageError is a sentence that holds neither a path nor a URL.
    """

    def __init__(self, settings: Settings, folder: str = "", tool: str = "") -> None:
        self._settings = settings
        self._folders = [folder] if folder else _folders(tool)
        self.new_outage = ""

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

    def keep(self, body: bytes, label: Label, seconds: float) -> Artifact:
        """Keep a body with what it is, which `label` tells again. Raises StorageError."""
        name = digest(body)
        # The label first: if there is hardly any room, it is what has to go.
        self.put(_key_of_label(name), strict_json.dumps(label._asdict()), seconds)
        expires = self.put(name, body, seconds)
        return Artifact(name, label, len(body), expires, self.path(name))

    def label(self, name: str) -> Label | None:
        """What the artifact is, as `keep` was told; None where it was not, or that has gone. Raises StorageError."""
        found = self._read(lambda entries: entries.get(_key_of_label(name)))
        facts = strict_json.loads(found) if found else None
        return Label(str(facts["media_type"]), str(facts["name"])) if isinstance(facts, dict) else None

    def path(self, name: str) -> str:
        """The file of an artifact; empty where it is not kept in files."""
        for folder in self._folders:
            files = _in_files(self._settings, folder)
            if files.expires(name) is not None:
                return files.path_of(name)
        return "" if self._uses_redis() else _in_files(self._settings, self._folders[0]).path_of(name)

    def get(self, name: str) -> bytes | None:
        """The body of a digest; None if there is none, it has expired, or was changed. Raises StorageError."""
        body = self._read(lambda entries: entries.get(name))
        return body if body is not None and digest(body) == name else None

    def expires(self, name: str) -> float | None:
        """When a body expires, in seconds since 1970; None if there is none. Raises StorageError."""
        return self._read(lambda entries: entries.expires(name))

    def _uses_redis(self) -> bool:
        return bool(self._settings.redis) and not self._find_outage()

    def _find_outage(self) -> str:
        from ferrule.storage import find_outage

        reason, is_new = find_outage(self._settings.redis)
        if is_new:
            self.new_outage = reason
        return reason

    def _read(self, read: Callable[[ExpiringFiles | ExpiringRedis], Found | None]) -> Found | None:
        """What is found on the Redis, or else in the files, where it is if the Redis did not answer at that time."""
        if self._uses_redis():
            with self._open() as entries:
                found = read(entries)
            if found is not None:
                return found
        for folder in self._folders:
            with self._open(in_files=folder) as entries:
                found = read(entries)
            if found is not None:
                break
        if found is None and self._settings.redis and (outage := self._find_outage()):
            raise _unusable(outage)
        return found

    @contextmanager
    def _open(self, *, in_files: str = "") -> Iterator[ExpiringFiles | ExpiringRedis]:
        try:
            is_redis = not in_files and self._uses_redis()
            entries = _in_redis(self._settings) if is_redis else _in_files(self._settings, in_files or self._folders[0])
            try:
                yield entries
            finally:
                entries.close()
        except StorageError as error:
            raise _unusable(error.reason) from None


def _unusable(reason: str) -> StorageError:
    return StorageError(f"Artifacts cannot be kept: {reason}.")


def _in_redis(settings: Settings) -> ExpiringRedis:
    from ferrule.storage import ExpiringRedis, RedisConnection

    return ExpiringRedis(RedisConnection(settings.redis, _REDIS_SECONDS), _PREFIX, max_bytes=MAX_BYTES)


def _folders(tool: str) -> list[str]:
    from ferrule.storage.state import ARTIFACTS, folder_of_tool, folders_of_tools

    if tool:
        return [folder_of_tool(ARTIFACTS, tool)]
    try:
        return folders_of_tools(ARTIFACTS)
    except OSError as error:
        raise _unusable(error.strerror or type(error).__name__) from None


def _in_files(settings: Settings, folder: str) -> ExpiringFiles:
    from ferrule.storage import ExpiringFiles

    return ExpiringFiles(
        folder,
        name="the artifacts' folder",
        total_bytes=settings.total_bytes,
        max_bytes=MAX_BYTES,
        max_seconds=MAX_SECONDS,
    )


def _key_of_label(name: str) -> str:
    return digest(_LABEL_OF + name.encode())


def read_artifact(resource: str) -> tuple[bytes, Artifact] | None:
    """The body of an artifact, and what it is; None if there is none. A result that was linked is JSON.

    resource: the handle, or the 64 hexadecimal digits in it.

    Raises StorageError where the store does not answer, and ConfigurationMalformed.
    """
    from ferrule.config import configuration

    name = name_in(resource)
    if name is None:
        return None
    store = ArtifactStore(Settings.of(configuration.read()))
    body, expires = store.get(name), store.expires(name)
    if body is None or expires is None:
        return None
    label = store.label(name) or _guess_label(body)
    return body, Artifact(name, label, len(body), expires, store.path(name))


def _guess_label(body: bytes) -> Label:
    """A linked result has no label, and that of another artifact may be gone before it."""
    try:
        body.decode()
    except UnicodeDecodeError:
        return Label(UNKNOWN_TYPE)
    return Label(MIME_TYPE)
