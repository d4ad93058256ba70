"""A folder of a notebook, walked to and held open, so that nothing outside can be put in its place meanwhile."""

from __future__ import annotations

import os
import stat
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ferrule_opennotes import errors

_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_MODE = 0o755
_MAX_LINKS = 40  # that Linux follows, too
# What the CLI and git keep for themselves: a note in there is either lost or does harm.
_NOT_FOR_NOTES = frozenset({".git", ".jot", ".opennotes.json", ".jot.json"})


class FolderError(Exception):
    """What should be a folder is something else. The text is its path from the root."""


@contextmanager
def open_folder(root: str, wanted: Sequence[str]) -> Iterator[Folder]:
    """The folder at `wanted` below the notebook's root, made where it does not exist yet.

    What was made is removed again where the body of the `with` fails, as far as it is empty. Raises PATH_TRAVERSAL,
    FolderError, and OSError.
    """
    folder = Folder(root)
    try:
        folder.walk(wanted)
        yield folder
    except BaseException:
        folder.remove_what_was_made()
        raise
    finally:
        folder.close()


class Folder:
    """A folder of the notebook.

    descriptor: of the open folder. parts: the way to it from the root, without symbolic links.
    """

    def __init__(self, root: str) -> None:
        self._root = os.path.realpath(root)  # the root may be a link, which is its owner's decision
        self._descriptors = [os.open(self._root, _FLAGS)]
        self._made: list[tuple[int, str]] = []
        self.parts: list[str] = []

    @property
    def descriptor(self) -> int:
        return self._descriptors[-1]

    def walk(self, wanted: Sequence[str]) -> None:
        """Go from the root to a folder, one part after the other, none of which the system follows as a link."""
        waiting, links = list(wanted), 0
        while waiting:
            name = waiting.pop(0)
            target = self._enter(name, "/".join(wanted))
            if target is None:
                continue
            links += 1
            if links > _MAX_LINKS:
                raise errors.path_traversal("/".join(wanted))
            waiting = target + waiting
            self._descriptors.append(os.dup(self._descriptors[0]))
            self.parts = []

    def remove_what_was_made(self) -> None:
        for parent, name in reversed(self._made):
            try:
                os.rmdir(name, dir_fd=parent)
            except OSError:  # another process has put something into it
                return

    def close(self) -> None:
        for descriptor in self._descriptors:
            os.close(descriptor)

    def _enter(self, name: str, wanted: str) -> list[str] | None:
        """Go into a folder, or return where the link leads that stands there."""
        if _is_not_for_notes(name):
            raise errors.path_traversal(wanted)
        try:
            descriptor = self._open_or_make(name)
        except OSError as error:
            status = self._status(name)
            if status is None:
                raise
            if stat.S_ISLNK(status.st_mode):
                return self._target(name, wanted)
            if stat.S_ISDIR(status.st_mode):
                raise
            raise FolderError("/".join([*self.parts, name])) from error
        self._descriptors.append(descriptor)
        self.parts.append(name)
        return None

    def _open_or_make(self, name: str) -> int:
        try:
            return os.open(name, _FLAGS, dir_fd=self.descriptor)
        except FileNotFoundError:
            try:
                os.mkdir(name, _MODE, dir_fd=self.descriptor)
                self._made.append((self.descriptor, name))
            except FileExistsError:  # a call at the same time was faster
                pass
            return os.open(name, _FLAGS, dir_fd=self.descriptor)

    def _status(self, name: str) -> os.stat_result | None:
        try:
            return os.stat(name, dir_fd=self.descriptor, follow_symlinks=False)
        except OSError:
            return None

    def _target(self, name: str, wanted: str) -> list[str]:
        """The way from the root to what a link stands for. It is walked as any other, and so may change meanwhile."""
        target = os.path.realpath(os.path.join(self._root, *self.parts, name))
        inside = os.path.relpath(target, self._root)
        parts = [part for part in inside.split(os.sep) if part != os.curdir]
        if os.pardir in parts:
            raise errors.path_traversal(wanted)
        return parts


def _is_not_for_notes(name: str) -> bool:
    """Whether a folder is not for notes, on file systems that ignore case and invisible characters, too."""
    visible = (character for character in name if unicodedata.category(character) != "Cf")
    return "".join(visible).casefold() in _NOT_FOR_NOTES
