"""Where to listen, and which requests count: addresses and the token."""

from __future__ import annotations

import base64
import hmac
import ipaddress
import os
import shlex
import stat
from pathlib import Path

from ferrule.errors import ServeError

VARIABLE = "FERRULE_SERVE_TOKEN"
_MIN_TOKEN_CHARS = 16
_SECRETS_OF_A_CONTAINER = "/run/secrets"
_MAX_FILE_BYTES = 4096
_HOW = f"Write one with `openssl rand -hex 32` into a file of mode 0600 for --token-file, or put it into {VARIABLE}."


class Address:
    """A host and a port; port 0 means any that is free. Raises ValueError for what is neither."""

    def __init__(self, text: str) -> None:
        host, _, port = text.rpartition(":") if ":" in text else ("", "", text)
        if not (port.isascii() and port.isdigit() and int(port) < 1 << 16):
            raise ValueError(f"{text!r} is no HOST:PORT")
        self.host = host.removeprefix("[").removesuffix("]") or "127.0.0.1"
        self.port = int(port)

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def name(self) -> str:
        """The host as it stands in a URL."""
        return f"[{self.host}]" if ":" in self.host else self.host


class Token:
    """The bearer token that every request has to carry."""

    def __init__(self, value: str) -> None:
        if len(value) < _MIN_TOKEN_CHARS or not (value.isascii() and value.isprintable()) or " " in value:
            problem = f"The token has to have {_MIN_TOKEN_CHARS} characters at least, in ASCII and without blanks."
            raise ServeError(problem, hint=_HOW)
        self._value = value.encode()

    def is_in(self, authorization: bytes) -> bool:
        """Whether the value of the header Authorization carries it; the time that this takes does not tell how much."""
        scheme, _, value = authorization.partition(b" ")
        return hmac.compare_digest(value.strip(), self._value) and scheme.lower() == b"bearer"

    def is_password_in(self, authorization: bytes) -> bool:
        """Whether it is the password there, of any user: the one way in which browsers can ask for it."""
        scheme, _, value = authorization.partition(b" ")
        try:
            password = base64.b64decode(value.strip(), validate=True).partition(b":")[2]
        except ValueError:
            return False
        return hmac.compare_digest(password, self._value) and scheme.lower() == b"basic"


def read_token(file: str | None) -> Token | None:
    """The token from the file, else from FERRULE_SERVE_TOKEN, which no tool sees; None where neither is there.

    Raises ServeError for a file that cannot be read or that others can read or write, and for a token that is too
    short.
    """
    of_environment = os.environ.pop(VARIABLE, "").strip()
    if file is not None:
        return Token(_read(file))
    return Token(of_environment) if of_environment else None


def check_access(address: Address, token: Token | None) -> None:
    """Raise ServeError where other machines reach the address and no token is needed."""
    if token is None and not address.is_loopback:
        problem = f"{address.name} can be reached from other machines, and no token is set."
        raise ServeError(problem, hint=_HOW)


def _may_others_read(file: str, facts: os.stat_result) -> bool:
    """Whether other users can read the token; its group too, where the file is this user's own.

    What systemd gives a service belongs to root and lets the service in by its group. What the manager of a container
    gives it has the mode that it chose, and there is nobody else in the container.
    """
    if Path(file).resolve().is_relative_to(_SECRETS_OF_A_CONTAINER):
        return False
    return bool(facts.st_mode & (0o044 if facts.st_uid == os.geteuid() else 0o004))


def _read(file: str) -> str:
    try:
        facts = Path(file).stat()
        if not stat.S_ISREG(facts.st_mode) or facts.st_mode & 0o022:
            raise ServeError(f"{file} is no plain file, or others may write to it.", hint=_HOW)
        if _may_others_read(file, facts):
            raise ServeError(f"{file} can be read by other users.", hint=f"Run: chmod 600 {shlex.quote(file)}")
        with Path(file).open("rb") as opened:
            return opened.read(_MAX_FILE_BYTES).decode(errors="replace").strip()
    except OSError as error:
        raise ServeError(f"{file} cannot be read: {error.strerror}.", hint=_HOW) from None
