"""What a checked executable finds around it: fresh folders, and an environment without the user's own settings."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import NamedTuple

from ferrule.config.own_folders import data_folder

FOLDERS = ("home", "tmp", "work")
FILES = {"work/example.txt": b"An example.\n"}
"""What is in the folders of a call: the file that arguments made from a schema name."""

_LOCALE_SECONDS = 10
_DECIMAL_COMMA = ("de_DE", "fr_FR", "nb_NO", "nn_NO", "sv_SE", "es_ES", "it_IT", "pl_PL", "ru_RU", "pt_BR", "nl_NL")
_AGENT = "IKIGAI_AGENT_ID"  # which the client sets, so that a failure ends with exit code 0
_DROPPED_STARTS = ("IKIGAI_", "XDG_", "LC_")
_DROPPED = (
    "FERRULE_CONFIG", "FERRULE_DATA", "FERRULE_DEBUG", "FERRULE_DISABLE", "FERRULE_EXIT_ZERO", "FERRULE_STATE",
    "FERRULE_WRAPPERS", "LANG", "LANGUAGE", "PYTHONDEVMODE", "PYTHONPROFILEIMPORTTIME", "PYTHONWARNINGS",
)  # fmt: skip
_CREDENTIAL_ENDS = (
    "_KEY", "_APIKEY", "_TOKEN", "_SECRET", "_PASSWORD", "_PASSWD", "_PASS", "_PAT", "_CREDENTIAL", "_CREDENTIALS",
    "_AUTH", "_KEY_ID",
)  # fmt: skip


class Place(NamedTuple):
    """The fresh folders of one call. root: has them all; work: the working directory."""

    root: str

    @property
    def home(self) -> str:
        """HOME."""
        return os.path.join(self.root, "home")

    @property
    def work(self) -> str:
        """The working directory."""
        return os.path.join(self.root, "work")

    def copy_home(self, folder: str) -> None:
        """Fill HOME with what is in a folder."""
        shutil.copytree(folder, self.home, symlinks=True, dirs_exist_ok=True)

    def copy_work(self, folder: str) -> None:
        """Put what is in a folder into the working directory."""
        shutil.copytree(folder, self.work, symlinks=True, dirs_exist_ok=True)

    def write_home(self, name: str, content: bytes) -> None:
        """Write a file below HOME that its owner alone may read."""
        path = os.path.join(self.home, name)
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        with open(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600), "wb") as file:
            file.write(content)

    def environ(self, changes: Mapping[str, str | None]) -> dict[str, str]:
        """The variables of a call: those of this process without settings and credentials, and these changes.

        changes: variables to set, and those to take away, by None.
        """
        environ = {name: value for name, value in os.environ.items() if not _is_dropped(name)}
        temporary = os.path.join(self.root, "tmp")
        environ |= {
            "HOME": self.home,
            "TMPDIR": temporary,
            "PWD": self.work,
            _AGENT: "ferrule-check",
            "LANG": "C.UTF-8",
            "FERRULE_DATA": data_folder(),  # the tool may be there, as others are where Python looks
        }
        packages = os.path.expanduser("~/.local")
        if os.path.isdir(packages):  # where Python looks below HOME, and a tool may be installed
            environ.setdefault("PYTHONUSERBASE", packages)
        environ |= {name: value for name, value in changes.items() if value is not None}
        return {name: value for name, value in environ.items() if changes.get(name, value) is not None}

    def written(self) -> dict[str, int]:
        """The files that are not empty, by their path below the folder of the call, with their size in bytes."""
        return written_below(self.root)


def written_below(top: str | int) -> dict[str, int]:
    """The files below a folder, or below the folder of a descriptor, that are not empty, with their size in bytes."""
    found = {}
    walk = os.fwalk(".", dir_fd=top) if isinstance(top, int) else os.fwalk(top)
    start = "." if isinstance(top, int) else top
    try:
        for folder, _, names, descriptor in walk:
            for name in names:
                size = _size(name, descriptor)
                if size:
                    found[os.path.relpath(os.path.join(folder, name), start)] = size
    except FileNotFoundError:
        pass  # a tool may take its folders away
    return found


def _size(name: str, folder: int) -> int:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False).st_size
    except OSError:
        return 0


@contextmanager
def fresh_folder() -> Iterator[str]:
    """A folder that is gone afterwards, whatever a tool has done to it."""
    folder = tempfile.mkdtemp(prefix="ferrule-check-")
    try:
        yield os.path.realpath(folder)
    finally:
        _remove(folder)


@contextmanager
def fresh_place(parent: str, name: str) -> Iterator[Place]:
    """The folders of one call."""
    root = os.path.join(parent, name)
    for one in FOLDERS:
        os.makedirs(os.path.join(root, one), mode=0o700)
    for path, content in FILES.items():
        with open(os.path.join(root, path), "wb") as file:
            file.write(content)
    try:
        yield Place(root)
    finally:
        _remove(root)


def is_credential_name(name: str) -> bool:
    """Whether a variable of that name holds a credential, as far as its name tells."""
    return name.upper().endswith(_CREDENTIAL_ENDS)


@cache
def comma_locale() -> str | None:
    """A locale of this system whose numbers have a decimal comma; None where it has none."""
    try:
        done = subprocess.run(["locale", "-a"], capture_output=True, timeout=_LOCALE_SECONDS, check=False)
    except (OSError, subprocess.SubprocessError):
        return None
    known = done.stdout.decode(errors="replace").split()
    wanted = ((name, one) for name in _DECIMAL_COMMA for one in known)
    return next((one for name, one in wanted if one.lower().replace("-", "") == f"{name.lower()}.utf8"), None)


def _is_dropped(name: str) -> bool:
    return name in _DROPPED or name.startswith(_DROPPED_STARTS) or is_credential_name(name)


def _remove(folder: str) -> None:
    def open_up(function: object, path: str, _: object) -> None:
        try:
            os.chmod(os.path.dirname(path), 0o700)
            os.chmod(path, 0o700)
            shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)
        except OSError:
            pass

    shutil.rmtree(folder, onerror=open_up)
