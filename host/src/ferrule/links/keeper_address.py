"""Where the keeper of a user, an installation and an environment listens.

A program in C finds the same address without an interpreter, so nothing here can change on one side alone: the folder,
the name, the variables that count, and how they are summed up.
"""

from __future__ import annotations

import os
import stat

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

BASE_VARIABLES = (
    "HOME", "PATH", "TMPDIR", "TEMP", "TMP", "LANG", "LANGUAGE", "TZ", "TZDIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME",
    "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "XDG_CONFIG_DIRS", "XDG_DATA_DIRS", "IKIGAI_CONFIG_DIR",
    "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUEST_METHOD",
)  # fmt: skip
"""Variables by which the host itself goes. Callers that differ in one of them have keepers of their own."""

BASE_BEGINNINGS = ("LC_", "FERRULE_", "PYTHON", "LD_", "MALLOC_", "GLIBC_")
BASE_ENDINGS = ("_PROXY", "_proxy")
NOT_BASE = ("FERRULE_CALLER", "FERRULE_DEADLINE", "FERRULE_EXIT_ZERO")
"""Variables that begin like those, and are each call's own."""

_PREFIX, _SUFFIX, _LOCK_SUFFIX = "keep-", ".sock", ".lock"
_FOLDER = "ferrule"
_MAX_PATH_BYTES = 107  # that the kernel takes for a socket
_MAX_FOLDER_BYTES = _MAX_PATH_BYTES - len("/" + _PREFIX + 16 * "0" + "-" + 16 * "0" + _SUFFIX)
_OFFSET, _PRIME, _MODULUS = 0xCBF29CE484222325, 0x100000001B3, 1 << 64  # of FNV-1a


def base_environ(environ: Mapping[str, str]) -> dict[str, str]:
    """The part of an environment that a keeper has itself."""
    return {name: value for name, value in environ.items() if is_base(name)}


def is_base(name: str) -> bool:
    """Whether callers that differ in this variable have keepers of their own."""
    if name in NOT_BASE:
        return False
    return name in BASE_VARIABLES or name.startswith(BASE_BEGINNINGS) or name.endswith(BASE_ENDINGS)


def environment_number(environ: Mapping[str, str]) -> str:
    """16 hexadecimal digits that differ between environments, whatever the order of their variables."""
    entries = (os.fsencode(f"{name}={value}") for name, value in environ.items() if is_base(name))
    return f"{sum(map(_fnv, entries)) % _MODULUS:016x}"


def installation_number(python: str, paths: Iterable[str], version: str) -> str:
    """16 hexadecimal digits for an interpreter, the folders on its path, and the version of ferrule.

    An environment has its interpreter by several names, such as `python` and `python3`, which are one here.
    """
    from ferrule.text.sha256 import sha256_hex

    facts = "\0".join((os.path.dirname(python), os.path.realpath(python), version, *paths))
    return sha256_hex(os.fsencode(facts))[:16]


def socket_name(installation: str, environ: Mapping[str, str]) -> str:
    """The file name of a keeper's socket. installation: see `installation_number`."""
    return f"{_PREFIX}{installation}-{environment_number(environ)}{_SUFFIX}"


def lock_path(socket: str) -> str:
    """The file whose lock the keeper of a socket holds."""
    return socket.removesuffix(_SUFFIX) + _LOCK_SUFFIX


def runtime_folder(environ: Mapping[str, str], *, is_made: bool = False) -> str:
    """The folder in which sockets of keepers are; empty where none is safe.

    is_made: whether it is made where it is missing.
    """
    for folder in _runtime_folders(environ):
        if is_made:
            _make(folder)
        if is_own(folder):
            return folder
    return ""


def _make(folder: str) -> None:
    """Make it where the folder around it is this user's, or everybody's: not where `sudo -E` names another user's."""
    try:
        around = os.stat(os.path.dirname(folder))
        if around.st_uid == os.geteuid() or around.st_mode & stat.S_ISVTX:
            os.mkdir(folder, 0o700)
    except OSError:
        return  # it is there, or the folder around it is not


def is_own(folder: str) -> bool:
    """Whether a folder is this user's, nobody else may enter it, and the path of a socket in it is not too long."""
    if len(os.fsencode(folder)) > _MAX_FOLDER_BYTES:
        return False
    try:
        found = os.lstat(folder)
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o077


def sockets(environ: Mapping[str, str]) -> list[str]:
    """The sockets of all keepers of this user in the folders that this environment names."""
    return [path for folder in filter(is_own, _runtime_folders(environ)) for path in keeper_sockets(folder)]


def keeper_sockets(folder: str) -> list[str]:
    """The sockets of keepers in one folder."""
    return _find_names(folder, _SUFFIX)


def keeper_locks(folder: str) -> list[str]:
    """The files in one folder whose locks keepers hold, or have held."""
    return _find_names(folder, _LOCK_SUFFIX)


def _find_names(folder: str, suffix: str) -> list[str]:
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    return [f"{folder}/{name}" for name in names if name.startswith(_PREFIX) and name.endswith(suffix)]


def _runtime_folders(environ: Mapping[str, str]) -> Iterator[str]:
    user = os.geteuid()
    named = environ.get("XDG_RUNTIME_DIR", "")
    if os.path.isabs(named):
        yield os.path.join(named, _FOLDER)
    yield f"/run/user/{user}/{_FOLDER}"
    yield f"/tmp/{_FOLDER}-{user}"  # noqa: S108 - it counts only where it is this user's alone


def _fnv(data: bytes) -> int:
    number = _OFFSET
    for byte in data:
        number = (number ^ byte) * _PRIME % _MODULUS
    return number
