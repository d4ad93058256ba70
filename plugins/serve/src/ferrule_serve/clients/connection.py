"""This installation's entry in the configuration of a client: what it is, how it is written, what is wrong with it."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ferrule.errors import FerruleError
from ferrule_serve.clients import documents
from ferrule_serve.clients.definitions import CLIENTS, Client, Server

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ferrule.text.json_types import JSONObject

DEFAULT_NAME = "ferrule"
_BACKUP = ".before-ferrule"
_MARK = "\ufeff"  # that some editors put at the beginning
_MAX_BYTES = 64 << 20  # of a client's file; that of Claude Code holds its history, too


class Change(NamedTuple):
    """What would be written. before: None if there is no file. after: None where there shall be none.

    backup: where `before` is kept. is_first: whether nothing of ferrule has been in the file so far.
    """

    client: Client
    path: Path
    name: str
    before: str | None
    after: str | None
    is_first: bool = False

    @property
    def backup(self) -> Path:
        """A file beside it."""
        return self.path.with_name(self.path.name + _BACKUP)

    @property
    def is_needed(self) -> bool:
        """Whether anything changes."""
        return self.before != self.after

    @property
    def is_kept(self) -> bool:
        """Whether writing it keeps the file as it was: one that has an entry of ferrule's is not from before."""
        return self.before is not None and self.is_first

    def write(self) -> None:
        """Write it as a whole, or not at all; a link stays one, and the mode stays. Raises FerruleError."""
        target = Path(os.path.realpath(self.path))
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            if self.is_kept:
                shutil.copy2(target, self.backup)
            if self.after is None:
                target.unlink(missing_ok=True)
            else:
                _replace(target, self.after)
        except OSError as error:
            raise FerruleError(f"{self.path} cannot be written: {error.strerror}.") from None


class Connected(NamedTuple):
    """An entry that starts ferrule. name: its key. command: the words that are started."""

    client: Client
    path: Path
    name: str
    command: list[str]


def this_server(tools: Sequence[str], environment: Mapping[str, str]) -> Server:
    """What a client has to start to get the tools of this installation, all of them where none is named."""
    return Server(_executable(), ("serve", *tools), environment)


def plan_connection(client: Client, path: Path, name: str, server: Server) -> Change:
    """The file with the entry in it. Raises FerruleError."""
    before = _read(path)
    with _telling(path):
        after = _with_entry(before, client, name, client.entry(server, name))
        return Change(client, path, name, before, after, not any(_entries(client, before)))


def plan_disconnection(client: Client, path: Path, name: str) -> Change:
    """The file without the entry: as it was before, where nothing else has changed. Raises FerruleError."""
    before = _read(path)
    with _telling(path):
        if before is None:
            return Change(client, path, name, None, None)
        keys = _keys(client, name)
        entry = documents.read_entry(_plain(before), client.form, keys)
        kept = _read(path.with_name(path.name + _BACKUP))
        # Another entry of ferrule's that has gone meanwhile may have left blank lines at the end.
        if entry is not None and _with_entry(kept, client, name, entry).rstrip() == before.rstrip():
            return Change(client, path, name, before, kept)
        after = _changed(before, lambda text: documents.remove_entry(text, client.form, keys))
        return Change(client, path, name, before, after)


def _with_entry(text: str | None, client: Client, name: str, entry: JSONObject) -> str:
    return _changed(text or "", lambda plain: documents.set_entry(plain, client.form, _keys(client, name), entry))


def _changed(text: str, change: Callable[[str], str]) -> str:
    """A text that is changed as one without a mark at its beginning, and whose lines then end as they did."""
    mark = _MARK if text.startswith(_MARK) else ""
    after = change(_plain(text))
    return mark + (after.replace("\n", "\r\n") if "\r\n" in text else after)


def _plain(text: str) -> str:
    return text.removeprefix(_MARK).replace("\r\n", "\n")


def find_connections(folder: Path) -> Iterator[Connected | FerruleError]:
    """Every entry that starts a ferrule, in the files of the user and of the project in a folder.

    An error stands for a file that cannot be read.
    """
    for client in CLIENTS.values():
        files = [client.user_file()]
        files += [folder / client.project_file] if client.project_file else []
        for path in dict.fromkeys(files):
            yield from _connections_or_error(client, path)


def find_connections_in(files: Mapping[str, str]) -> Iterator[Connected | FerruleError]:
    """The same of certain files. files: the name of the client by the file's path."""
    for path, name in files.items():
        if name in CLIENTS:
            yield from _connections_or_error(CLIENTS[name], Path(path))


def _connections_or_error(client: Client, path: Path) -> Iterator[Connected | FerruleError]:
    try:
        yield from _connections_in(client, path)
    except FerruleError as error:
        yield error


def _connections_in(client: Client, path: Path) -> Iterator[Connected]:
    text = _read(path)
    with _telling(path):
        found = _entries(client, text)
    yield from (Connected(client, path, name, words) for name, words in found)


def _entries(client: Client, text: str | None) -> list[tuple[str, list[str]]]:
    """The entries that start a ferrule: their keys, and what they start."""
    servers = None if text is None else documents.read_entry(_plain(text), client.form, client.keys)
    entries = servers.items() if isinstance(servers, dict) else ()
    found = [(str(name), client.command(entry) if isinstance(entry, dict) else []) for name, entry in entries]
    return [one for one in found if one[1] and Path(one[1][0]).stem == "ferrule" and "serve" in one[1][1:]]


def _keys(client: Client, name: str) -> tuple[str, ...]:
    return (*client.keys, name)


def _executable() -> str:
    """The absolute path of the command `ferrule` of this environment."""
    beside = Path(sys.executable).with_name("ferrule.exe" if sys.platform == "win32" else "ferrule")
    found = str(beside) if beside.is_file() else shutil.which("ferrule")
    if found is None:
        raise FerruleError("The command `ferrule` of this environment is not found.", hint="Install ferrule again.")
    return os.path.abspath(found)


def _read(path: Path) -> str | None:
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise FerruleError(f"{path} is larger than {_MAX_BYTES >> 20} MiB.")
        return path.read_bytes().decode()  # with its line ends
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise FerruleError(f"{path} cannot be read: {reason}.") from None


class _telling:
    """Names the file in what is wrong with its content."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: BaseException | None, _traceback: object) -> None:
        if isinstance(error, documents.DocumentMalformed):
            raise FerruleError(
                f"{self._path} cannot be changed: {error.message}.", hint="Fix it first; nothing was written."
            ) from None


def _replace(target: Path, text: str) -> None:
    mode = target.stat().st_mode & 0o777 if target.exists() else 0o600
    file, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(file, "w", encoding="utf-8", newline="") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(temporary, mode)
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise
