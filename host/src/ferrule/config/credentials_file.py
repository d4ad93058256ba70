"""The credentials file: read with suspicion, written atomically and for its owner alone."""

from __future__ import annotations

import os
import stat

from ferrule.errors import CredentialsMalformed
from ferrule.text import strict_json

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable

_MAX_BYTES = 1 << 20
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_OTHERS_READ = stat.S_IRGRP | stat.S_IROTH


class CredentialsFile:
    """What one credentials file holds. `problem` says why it cannot be used, `warning` what its owner should mend."""

    __slots__ = ("content", "path", "problem", "warning")

    def __init__(self, path: str) -> None:
        self.path = path
        self.content: dict[str, object] = {}
        self.problem: str | None = None
        self.warning: str | None = None
        try:
            self._read()
        except CredentialsMalformed as error:
            self.problem = error.message

    def value(self, key: str) -> str:
        """The text at a dotted key, `""` where there is none or it is not text."""
        found = self._at(key)
        return found if isinstance(found, str) else ""

    def has_no_text(self, key: str) -> bool:
        """Whether something other than text stands at a dotted key; null stands for nothing."""
        return not isinstance(self._at(key), str | None)

    def _at(self, key: str) -> object:
        found: object = self.content
        for part in key.split("."):
            found = found.get(part) if isinstance(found, dict) else None
        return found

    def _read(self) -> None:
        data = self._bytes()
        if data is None:
            return
        try:
            content = strict_json.loads(data)
        except strict_json.MalformedJSON as error:
            raise CredentialsMalformed(f"{self.path} is not JSON: {error.discreet}.") from None
        if not isinstance(content, dict):
            raise CredentialsMalformed(f"{self.path} does not hold a JSON object.")
        self.content = content

    def _bytes(self) -> bytes | None:
        try:
            # Without O_NONBLOCK a FIFO in the file's place would hang the call.
            file = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise CredentialsMalformed(f"{self.path} cannot be read: {error.strerror}.") from None
        try:
            self._trust(os.fstat(file))
            return os.read(file, _MAX_BYTES)
        except OSError as error:
            raise CredentialsMalformed(f"{self.path} cannot be read: {error.strerror}.") from None
        finally:
            os.close(file)

    def _trust(self, status: os.stat_result) -> None:
        if not stat.S_ISREG(status.st_mode):
            raise CredentialsMalformed(f"{self.path} is not a regular file.")
        if status.st_size >= _MAX_BYTES:
            raise CredentialsMalformed(f"{self.path} is larger than 1 MiB.")
        if status.st_uid not in (os.getuid(), 0):
            raise CredentialsMalformed(f"{self.path} belongs to another user (uid {status.st_uid}).")
        if status.st_mode & _OTHERS_WRITE:
            raise CredentialsMalformed(f"{self.path} can be written by other users. Run: chmod 600 {self.path}")
        if status.st_mode & _OTHERS_READ:
            self.warning = f"{self.path} can be read by other users. Run: chmod 600 {self.path}"


def store(path: str, key: str, value: str) -> None:
    """Set one dotted key and keep all else that the file holds; the file is replaced at once, with mode 0600.

    Raises CredentialsMalformed where the file that is there cannot be read, so that nothing in it is lost, or where a
    part of the key is taken by something that is no object.
    """

    def put(content: dict[str, object]) -> bool:
        _put(content, key, value, path)
        return True

    _change(path, put)


def remove(path: str, key: str) -> bool:
    """Take one dotted key out, and the objects that it leaves empty; False where it was not there.

    All else is kept, and the file replaced, as by `store`. Raises CredentialsMalformed as `store` does.
    """
    return os.path.lexists(path) and _change(path, lambda content: _take_out(content, key.split(".")))


def _change(path: str, change: Callable[[dict[str, object]], bool]) -> bool:
    """Read, change and write the file, while no other process does the same; nothing is written for a False."""
    path = os.path.realpath(path)
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    # The folder itself is locked: the file is replaced, so a lock on it would be one on the old file.
    folder = os.open(os.path.dirname(path), os.O_RDONLY | os.O_CLOEXEC)
    try:
        _lock(folder)
        file = CredentialsFile(path)
        if file.problem:
            raise CredentialsMalformed(file.problem, hint="Mend or move the file first; it was left as it is.")
        is_changed = change(file.content)
        if is_changed:
            _replace(path, file.content)
    finally:
        os.close(folder)
    return is_changed


def _lock(folder: int) -> None:
    import fcntl

    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
    except OSError:
        pass  # a network file system may have no locks; the file is still replaced as a whole


def _take_out(place: dict[str, object], keys: list[str]) -> bool:
    key, *rest = keys
    if not rest:
        return place.pop(key, None) is not None
    inner = place.get(key)
    if not isinstance(inner, dict) or not _take_out(inner, rest):
        return False
    if not inner:
        del place[key]
    return True


def _put(content: dict[str, object], key: str, value: str, path: str) -> None:
    *folders, last = key.split(".")
    place = content
    for folder in folders:
        inner = place.setdefault(folder, {})
        if not isinstance(inner, dict):
            raise CredentialsMalformed(f"In {path}, {folder!r} is not an object, so {key!r} cannot be set.")
        place = inner
    place[last] = value


def _replace(path: str, content: dict[str, object]) -> None:
    import json
    import tempfile

    # mkstemp makes the file 0600 from the start, so the key is never readable for others, not even for a moment.
    handle, draft = tempfile.mkstemp(dir=os.path.dirname(path), prefix=".credentials-")
    try:
        with open(handle, "w", encoding="utf-8") as file:
            file.write(json.dumps(content, ensure_ascii=False, indent=2) + "\n")
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
    except BaseException:
        os.unlink(draft)
        raise
