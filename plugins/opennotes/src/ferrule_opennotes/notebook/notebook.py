"""A notebook: a folder with a configuration file, and markdown files below its root."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ferrule_opennotes import errors
from ferrule_opennotes.notebook import configuration
from ferrule_opennotes.notebook.characters import make_storable
from ferrule_opennotes.notebook.notes import Note
from ferrule_opennotes.notebook.paths import leads_out, list_entries, normalize

if TYPE_CHECKING:
    from ferrule import JSONObject
    from ferrule_opennotes.answers.types import NotebookName

CONFIG_FILES = {"opennotes": ".opennotes.json", "jot": ".jot.json"}
FOREIGN_FOLDERS = frozenset(
    {".git", ".hg", ".svn", ".jot", ".obsidian", ".trash", ".stversions", ".vscode", ".idea", "node_modules"}
)
"""Folders that hold what programs keep for themselves, and what they have thrown away."""

_MAX_SIMILAR = 3


class ConfigurationError(Exception):
    """A configuration file that cannot be used. The text says why."""


class Notebook:
    """A notebook that has been opened.

    name: as users know it. path: the folder of its configuration file. root: the folder of its notes. config: what the
    file says. config_file: the file's name.
    """

    def __init__(self, path: str, config_file: str, config: JSONObject) -> None:
        self.path = path
        self.config_file = config_file
        self.config = config
        name = config.get("name")
        self.name = errors.shorten(name) if isinstance(name, str) and name else os.path.basename(path) or path
        root = config.get("root")
        # As the CLI joins them: a root that begins with "/" is below the notebook all the same.
        self.root = os.path.normpath(f"{path}/{root}") if isinstance(root, str) and root else path

    def describe(self) -> NotebookName:
        """`{"name", "path"}`, as answers carry it."""
        return {"name": make_storable(self.name), "path": make_storable(self.path)}

    def list_notes(self) -> list[Note]:
        """Every note, in the order of their paths. What cannot be listed is left out.

        Raises NOTEBOOK_NOT_FOUND where that is all of it: an empty answer would say that there are no notes.
        """
        try:
            os.scandir(self.root).close()
        except PermissionError as error:
            raise errors.notes_unreadable(make_storable(self.root)) from error
        except OSError:
            return []
        found = [Note(path, absolute, mtime) for path, absolute, mtime in self._walk_files()]
        return sorted(found, key=lambda note: note.path)

    def count_notes(self) -> int:
        """How many notes there are."""
        return sum(1 for _ in self._walk_files())

    def find_note(self, path: str) -> Note:
        """The note at a path, which may begin with the root: notes that are made are told by such a path, too.

        Raises PATH_TRAVERSAL, NOTE_NOT_FOUND with paths that look like it, and what `list_notes` raises.
        """
        wanted = normalize(path.removeprefix(os.path.join(self.root, "")))
        for candidate in (wanted, f"{wanted}.md"):
            if found := self._open_file(candidate):
                return found
        if not wanted.isascii():  # a name that is no UTF-8 is given out with U+FFFD; some systems divide letters
            for note in self.list_notes():
                if _unite(note.path) in (_unite(wanted), _unite(f"{wanted}.md")):
                    return note
        raise errors.note_not_found(path, self._find_similar(wanted))

    def _open_file(self, path: str) -> Note | None:
        if not FOREIGN_FOLDERS.isdisjoint(path.split("/")[:-1]):
            return None
        absolute = os.path.join(self.root, path)
        try:
            status = os.stat(absolute)
        except (OSError, ValueError):
            return None
        if not path or not path.endswith(".md") or not stat.S_ISREG(status.st_mode):
            return None
        if leads_out(absolute, self.root):
            raise errors.path_traversal(path)
        try:
            os.close(os.open(absolute, os.O_RDONLY | os.O_NONBLOCK))  # a mode does not say what a call may read
        except PermissionError as error:
            raise errors.note_unreadable(path) from error
        return Note(path, absolute, status.st_mtime)

    def _find_similar(self, path: str) -> list[str]:
        from difflib import get_close_matches

        paths = [note.path for note in self.list_notes()]
        name = path.rpartition("/")[2].removesuffix(".md")
        same_name = [each for each in paths if each.rpartition("/")[2].removesuffix(".md") == name]
        return (same_name or get_close_matches(path[:200], paths[:5000], _MAX_SIMILAR))[:_MAX_SIMILAR]

    def _walk_files(self) -> Iterator[tuple[str, str, float]]:
        waiting = [(self.root, "")]
        while waiting:
            folder, prefix = waiting.pop()
            for entry in list_entries(folder):
                name = entry.name.encode(errors="surrogateescape").decode("utf-8", "replace")
                try:
                    if entry.is_dir(follow_symlinks=False):
                        if name not in FOREIGN_FOLDERS:
                            waiting.append((entry.path, f"{prefix}{name}/"))
                    elif name.endswith(".md") and entry.is_file() and not self._is_foreign(entry):
                        yield prefix + name, entry.path, entry.stat().st_mtime
                except OSError:
                    continue

    def _is_foreign(self, entry: os.DirEntry[str]) -> bool:
        return entry.is_symlink() and leads_out(entry.path, self.root)


def _unite(path: str) -> str:
    """The path with each letter in one piece, however it is written."""
    import unicodedata

    return unicodedata.normalize("NFC", path)


def read(folder: str, kinds: list[str]) -> Notebook | None:
    """The notebook whose configuration file lies in a folder; None if there is none.

    kinds: whose file counts first where both CLIs have one there. Raises ConfigurationError.
    """
    for kind in kinds:
        file = os.path.join(folder, CONFIG_FILES[kind])
        try:
            config = configuration.read(file)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except (OSError, ValueError, RecursionError) as error:
            raise ConfigurationError(f"{file} cannot be read: {error}") from None
        if not isinstance(config, dict):
            raise ConfigurationError(f"{file} holds no JSON object")
        return Notebook(folder, CONFIG_FILES[kind], config)
    return None
