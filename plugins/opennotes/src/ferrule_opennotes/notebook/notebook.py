"""A notebook: a folder with a configuration file, and markdown files below its root."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Any

from ferrule_opennotes import errors
from ferrule_opennotes.notebook import configuration
from ferrule_opennotes.notebook.notes import Note
from ferrule_opennotes.notebook.paths import entries, inside, leads_out
from ferrule_opennotes.notebook.storable import storable

if TYPE_CHECKING:
    from collections.abc import Iterator

CONFIG_FILES = {"opennotes": ".opennotes.json", "jot": ".jot.json"}
_NO_NOTES = (".git", ".jot")  # folders that hold what git and the CLI keep for themselves
_SIMILAR = 3


class Malformed(Exception):
    """A configuration file that cannot be used. The text says why."""


class Notebook:
    """A notebook that has been opened.

    name: for people. path: the folder of its configuration file. root: the folder of its notes. config: what the file
    says. config_file: the file's name.
    """

    def __init__(self, path: str, config_file: str, config: dict[str, Any]) -> None:
        self.path = path
        self.config_file = config_file
        self.config = config
        name = config.get("name")
        self.name = errors.shown(name) if isinstance(name, str) and name else os.path.basename(path) or path
        root = config.get("root")
        # As the CLI joins them: a root that begins with "/" is below the notebook all the same.
        self.root = os.path.normpath(f"{path}/{root}") if isinstance(root, str) and root else path

    def named(self) -> dict[str, Any]:
        """`{"name", "path"}`, as answers carry it."""
        return {"name": storable(self.name), "path": storable(self.path)}

    def notes(self) -> list[Note]:
        """Every note, in the order of their paths. What cannot be listed is left out."""
        found = [Note(path, absolute, mtime) for path, absolute, mtime in self._files()]
        return sorted(found, key=lambda note: note.path)

    def count(self) -> int:
        """How many notes there are."""
        return sum(1 for _ in self._files())

    def note(self, path: str) -> Note:
        """The note at a path. Raises PATH_TRAVERSAL, and NOTE_NOT_FOUND with paths that look like it."""
        wanted = inside(path)
        for candidate in (wanted, f"{wanted}.md"):
            if found := self._file(candidate):
                return found
        if "\ufffd" in wanted:  # a name that is no UTF-8 was given out like this
            for note in self.notes():
                if note.path == wanted:
                    return note
        raise errors.note_not_found(path, self._similar(wanted))

    def _file(self, path: str) -> Note | None:
        if any(folder in _NO_NOTES for folder in path.split("/")[:-1]):
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
        if not os.access(absolute, os.R_OK):
            raise errors.note_unreadable(path)
        return Note(path, absolute, status.st_mtime)

    def _similar(self, path: str) -> list[str]:
        from difflib import get_close_matches

        paths = [note.path for note in self.notes()]
        name = path.rpartition("/")[2].removesuffix(".md")
        same_name = [each for each in paths if each.rpartition("/")[2].removesuffix(".md") == name]
        return (same_name or get_close_matches(path[:200], paths[:5000], _SIMILAR))[:_SIMILAR]

    def _files(self) -> Iterator[tuple[str, str, float]]:
        waiting = [(self.root, "")]
        while waiting:
            folder, prefix = waiting.pop()
            for entry in entries(folder):
                name = entry.name.encode(errors="surrogateescape").decode("utf-8", "replace")
                try:
                    if entry.is_dir(follow_symlinks=False):
                        if name not in _NO_NOTES:
                            waiting.append((entry.path, f"{prefix}{name}/"))
                    elif name.endswith(".md") and entry.is_file() and not self._is_foreign(entry):
                        yield prefix + name, entry.path, entry.stat().st_mtime
                except OSError:
                    continue

    def _is_foreign(self, entry: os.DirEntry[str]) -> bool:
        return entry.is_symlink() and leads_out(entry.path, self.root)


def read(folder: str, kinds: list[str]) -> Notebook | None:
    """The notebook whose configuration file lies in a folder; None where there is none.

    kinds: whose file counts first where both CLIs have one there. Raises Malformed.
    """
    for kind in kinds:
        file = os.path.join(folder, CONFIG_FILES[kind])
        try:
            config = configuration.read(file)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except (OSError, ValueError, RecursionError) as error:
            raise Malformed(f"{file} cannot be read: {error}") from None
        if not isinstance(config, dict):
            raise Malformed(f"{file} holds no JSON object")
        return Notebook(folder, CONFIG_FILES[kind], config)
    return None
