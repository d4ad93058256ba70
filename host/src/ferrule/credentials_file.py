"""The credentials file: read with suspicion, written atomically and for its owner alone."""

import os
import stat

from ferrule import strict_json
from ferrule.errors import CredentialsMalformed

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
        found: object = self.content
        for part in key.split("."):
            found = found.get(part) if isinstance(found, dict) else None
        return found if isinstance(found, str) else ""

    def _read(self) -> None:
        data = self._bytes()
        if data is None:
            return
        try:
            content = strict_json.loads(data)
        except strict_json.MalformedJSON as error:
            raise CredentialsMalformed(f"{self.path} is not JSON: {error}.") from None
        if not isinstance(content, dict):
            raise CredentialsMalformed(f"{self.path} does not hold a JSON object.")
        self.content = content

    def _bytes(self) -> bytes | None:
        try:
            # Without O_NONBLOCK a FIFO in the file's place would hang the call.
            file = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except FileNotFoundError:
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
    file = CredentialsFile(path)
    if file.problem:
        raise CredentialsMalformed(file.problem, hint="Mend or move the file first; it was left as it is.")
    _put(file.content, key, value, path)
    _replace(path, file.content)


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

    folder = os.path.dirname(os.path.realpath(path))
    os.makedirs(folder, mode=0o700, exist_ok=True)
    # mkstemp makes the file 0600 from the start, so the key is never readable for others, not even for a moment.
    handle, draft = tempfile.mkstemp(dir=folder, prefix=".credentials-")
    try:
        with open(handle, "w", encoding="utf-8") as file:
            file.write(json.dumps(content, ensure_ascii=False, indent=2) + "\n")
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, os.path.realpath(path))
    except BaseException:
        os.unlink(draft)
        raise
