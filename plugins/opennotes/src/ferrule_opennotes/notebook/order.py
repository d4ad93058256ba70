"""The orders that notes are listed in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ferrule_opennotes.notebook import dates

if TYPE_CHECKING:
    from ferrule_opennotes.notebook.notes import Note


def sort_notes(notes: Sequence[Note], field: str, *, is_descending: bool = False) -> list[Note]:
    """Notes in the order of their paths by `path`, `title`, `modified` or `created`.

    Those that are alike in it stay as they are; those without it are last, whichever the order.
    """
    if field in _KEYS:
        return sorted(notes, key=_KEYS[field], reverse=is_descending)
    undated = [note for note in notes if note.created is None]
    dated = [note for note in notes if note.created is not None]
    return sorted(dated, key=lambda note: dates.to_seconds(note.created) or 0, reverse=is_descending) + undated


_KEYS: dict[str, Callable[[Note], Any]] = {
    "path": lambda note: note.path,
    "title": lambda note: note.name.casefold(),
    "modified": lambda note: dates.to_seconds(stated) if (stated := note.stated_modified) else note.mtime,
}
