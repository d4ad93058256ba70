"""The credentials file, read with suspicion. `ferrule.trust.credentials.credentials_writer` changes it."""

from __future__ import annotations

import os
import stat

from ferrule.errors import CredentialsMalformed
from ferrule.text import strict_json

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable

ACCESS_TOKEN = "access_token"  # noqa: S105 - the name of a key
"""The key that makes an object a token of OAuth, which may stand where a text does: its value is the text."""

_MAX_BYTES = 1 << 20
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_OTHERS_READ = stat.S_IRGRP | stat.S_IROTH


def parse_json(path: str, data: bytes) -> dict[str, object]:
    """The object that a credentials file holds, with a byte order mark or without. Raises CredentialsMalformed."""
    try:
        content = strict_json.loads(data.removeprefix(_BYTE_ORDER_MARK))
    except strict_json.MalformedJSON as error:
        raise CredentialsMalformed(f"{path} is not JSON: {error.discreet}.") from None
    if not isinstance(content, dict):
        raise CredentialsMalformed(f"{path} does not hold a JSON object.")
    return content


class CredentialsFile:
    """What one credentials file holds. `problem` says why it cannot be used, `warning` what its owner should fix, and
    `fix` the command that does.

    parse: makes the content from the path and the bytes of a file that can be trusted, where it is not JSON; raises
    CredentialsMalformed.
    """

    __slots__ = ("content", "fix", "path", "problem", "warning")

    def __init__(self, path: str, parse: Callable[[str, bytes], dict[str, object]] = parse_json) -> None:
        self.path = path
        self.content: dict[str, object] = {}
        self.problem: str | None = None
        self.warning: str | None = None
        self.fix: str | None = None
        try:
            data = self._bytes()
            if data is not None:
                self.content = parse(path, data)
        except CredentialsMalformed as error:
            self.problem = error.message

    def value(self, key: str) -> str:
        """The text at a dotted key, `""` if there is none or it is not text; of a token, the access token."""
        found = self._at(key)
        if isinstance(found, dict):
            found = found.get(ACCESS_TOKEN)
        return found if isinstance(found, str) else ""

    def token(self, key: str) -> dict[str, object] | None:
        """The token of OAuth at a dotted key, with all that it needs to be renewed; None without one."""
        found = self._at(key)
        return found if isinstance(found, dict) and isinstance(found.get(ACCESS_TOKEN), str) else None

    def has_no_text(self, key: str) -> bool:
        """Whether something other than text stands at a dotted key; null stands for nothing."""
        return not isinstance(self._at(key), str | None) and self.token(key) is None

    def blocked_at(self, key: str) -> str | None:
        """The part of a dotted key where something stands that is no object, so that nothing can be in it; or None."""
        found: object = self.content
        parts = key.split(".")
        for number, part in enumerate(parts[:-1]):
            found = found.get(part) if isinstance(found, dict) else None
            if not isinstance(found, dict | None):
                return ".".join(parts[: number + 1])
        return None

    def _at(self, key: str) -> object:
        found: object = self.content
        for part in key.split("."):
            found = found.get(part) if isinstance(found, dict) else None
        return found

    def _bytes(self) -> bytes | None:
        try:
            # Without O_NONBLOCK a FIFO in the file's place would hang the call.
            file = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            try:
                self._trust(os.fstat(file))
                return os.read(file, _MAX_BYTES)
            finally:
                os.close(file)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise CredentialsMalformed(f"{self.path} cannot be read: {error.strerror}.") from None

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
            self._warn(f"{self.path} can be read by other users.", f"chmod 600 {self.path}")
        folder = os.path.dirname(os.path.abspath(self.path))
        mode = os.stat(folder).st_mode
        if mode & _OTHERS_WRITE and not mode & stat.S_ISVTX:
            self._warn(f"{folder} can be written by other users, who can replace the file.", f"chmod 700 {folder}")

    def _warn(self, text: str, fix: str) -> None:
        self.warning = f"{self.warning} {text} Run: {fix}" if self.warning else f"{text} Run: {fix}"
        self.fix = f"{self.fix} && {fix}" if self.fix else fix
