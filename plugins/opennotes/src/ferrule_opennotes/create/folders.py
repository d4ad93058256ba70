"""A folder of a notebook, walked to and held open, so that nothing outside can be put in its place meanwhile."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from ferrule_opennotes import errors
from ferrule_opennotes.notebook.notebook import FOREIGN_FOLDERS

_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_MODE = 0o755
# What programs keep for themselves: a note in there is either lost or does harm.
_NOT_FOR_NOTES = FOREIGN_FOLDERS | {".opennotes.json", ".jot.json"}


class FolderError(Exception):
    """What should be a folder is something else. The text is its path from the root."""


@contextmanager
def open_folder(root: str, wanted: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """The descriptor of the folder at `wanted` below the root, made where it does not exist yet, and the way to it.

    The way is free of symbolic links: what becomes one meanwhile is not followed. Raises PATH_TRAVERSAL, FolderError,
    and OSError.
    """
    base = os.path.realpath(root)  # the root may be a link, which is its owner's decision
    parts = _resolve(base, wanted)
    descriptor = _open(base, None, "the notebook's root")
    try:
        for number, name in enumerate(parts, 1):
            with suppress(FileExistsError):
                os.mkdir(name, _MODE, dir_fd=descriptor)
            below = _open(name, descriptor, "/".join(parts[:number]))
            os.close(descriptor)
            descriptor = below
        yield descriptor, parts
    finally:
        os.close(descriptor)


def _open(name: str, parent: int | None, path: str) -> int:
    try:
        return os.open(name, _FLAGS, dir_fd=parent)
    except NotADirectoryError:
        raise FolderError(path) from None


def _resolve(base: str, wanted: Sequence[str]) -> list[str]:
    """The way to a folder without its links. Raises PATH_TRAVERSAL for one out of the root, and links in a circle."""
    target = os.path.realpath(os.path.join(base, *wanted))
    parts = [part for part in os.path.relpath(target, base).split(os.sep) if part != os.curdir]
    is_circle = any(os.path.islink(os.path.join(base, *parts[:number])) for number in range(1, len(parts) + 1))
    if is_circle or os.pardir in parts or any(map(_is_not_for_notes, (*wanted, *parts))):
        raise errors.path_traversal("/".join(wanted))
    return parts


def _is_not_for_notes(name: str) -> bool:
    """Whether a folder is not for notes, on file systems that ignore case and invisible characters, too."""
    visible = (character for character in name if unicodedata.category(character) != "Cf")
    return "".join(visible).casefold() in _NOT_FOR_NOTES
