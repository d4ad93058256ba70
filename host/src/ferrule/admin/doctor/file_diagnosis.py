"""What is wrong with files that ferrule goes by: metadata that cannot be read, files that other users may change."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from ferrule import discovery
from ferrule.admin.doctor.diagnosis_entry import ERROR, WARNING, Diagnosis
from ferrule.config.client_folders import client_folders
from ferrule.links import linked_executables
from ferrule.storage import state_folder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrule.config.configuration import Configuration

_ENTRY_POINTS, _OURS = "entry_points.txt", b"ferrule."
_MAX_BYTES = 1 << 20
_NAMED_BY = (b"name:", b"metadata-version:")
_AGAIN = "Install {} again."
_ROOT = 0


def examine(settings: Configuration) -> Iterator[Diagnosis]:
    """What is wrong with them."""
    for metadata in discovery.metadata_folders():
        yield from _metadata(metadata)
    yield from _state()
    for path in (settings.path, settings.lock_path):
        yield from _writable(path, "configuration-unsafe", "decide what tools may")
    for folder in client_folders():
        found = list(_writable(folder, "folder-unsafe", "put a tool there that the client runs"))
        yield from found
        for path, _ in () if found else linked_executables.links(folder):
            yield from _writable(path, "link-unsafe", "have the client run something else")


def _metadata(folder: str) -> Iterator[Diagnosis]:
    """Of a distribution that offers something here, or of which that cannot be told."""
    name = discovery.name_and_version(folder)[0]
    path = os.path.join(folder, _ENTRY_POINTS)
    data, problem = _read(path)
    if problem is None and _OURS in data:
        problem = _problem_of_entry_points(data)
        yield from _named(folder, name)
    if problem:
        message = f"It {problem}, so the tools in it are not offered."
        yield Diagnosis("metadata-broken", ERROR, path, message, _AGAIN.format(name))


def _problem_of_entry_points(data: bytes) -> str | None:
    try:
        lines = data.decode().splitlines()
    except UnicodeDecodeError:
        return "is not UTF-8"
    for number, line in enumerate(map(str.strip, lines), 1):
        is_group = line.startswith("[") and line.endswith("]")
        if line and not is_group and line[0] not in "#;" and "=" not in line:
            return f"cannot be read in line {number}"
    return None


def _named(folder: str, name: str) -> Iterator[Diagnosis]:
    """The file that says what the distribution is, without which installers do not know it."""
    files = [os.path.join(folder, one) for one in ("METADATA", "PKG-INFO")]
    path = next((one for one in files if os.path.lexists(one)), files[0])
    data, problem = _read(path)
    if not os.path.lexists(path):
        problem = "is missing"
    elif problem is None and not data.lower().lstrip(b"\xef\xbb\xbf \r\n").startswith(_NAMED_BY):
        problem = "says no name"
    if problem:
        message = f"It {problem}, so installers can neither bring {name} up to date nor remove it."
        yield Diagnosis("metadata-broken", WARNING, path, message, _AGAIN.format(name))


def _read(path: str) -> tuple[bytes, str | None]:
    """The content, and why it cannot be read; a file that is not there is empty."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return b"", None
    except NotADirectoryError:
        return b"", None  # metadata that is a file has no others
    except OSError as error:
        return b"", f"cannot be read ({error.strerror})"
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            return b"", "is no file"
        return os.read(file, _MAX_BYTES), None
    finally:
        os.close(file)


def _state() -> Iterator[Diagnosis]:
    """The folder of caches and artifacts, where another user could put answers of tools."""
    folder = state_folder()
    fix = "Have FERRULE_STATE name a folder of your own."
    try:
        facts = os.stat(folder)
    except NotADirectoryError:
        facts = None
    except OSError:
        return  # it is made when it is needed
    if facts is None or not stat.S_ISDIR(facts.st_mode):
        message = "It is no folder, so nothing is kept there: no cache, no artifact, no record of what tools ask for."
        yield Diagnosis("state-folder-unusable", ERROR, folder, message, fix)
    elif facts.st_uid != os.geteuid():
        message = f"It belongs to the user {facts.st_uid}, who can change what tools keep there."
        yield Diagnosis("state-folder-unsafe", WARNING, folder, message, fix)
    elif facts.st_mode & 0o022:
        message = "Other users may write to it, and change what tools keep there."
        yield Diagnosis("state-folder-unsafe", WARNING, folder, message, f"chmod go-w {folder}")


def _writable(path: str, identity: str, what: str) -> Iterator[Diagnosis]:
    """Whether other users may write to it, or to the folder that it is in, where they could put another one."""
    for place in dict.fromkeys((path, os.path.dirname(path))):
        try:
            facts = os.stat(place)
        except OSError:
            continue
        if facts.st_uid not in (_ROOT, os.geteuid()):
            message = f"{place} belongs to the user {facts.st_uid}, who can {what}."
            yield Diagnosis(identity, WARNING, path, message, f"Make it your own: chown {os.geteuid()} {place}")
        elif facts.st_mode & stat.S_IWOTH and not (facts.st_mode & stat.S_ISVTX and place != path):
            message = f"Every user may write to {place}, and {what}."
            yield Diagnosis(identity, WARNING, path, message, f"chmod o-w {place}")
