"""The rows that a view answers with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ferrule_opennotes.notebook import dates

if TYPE_CHECKING:
    from ferrule_opennotes.notebook.notes import Note


class Row(NamedTuple):
    """A result. note: whose summary it begins with, if any. facts: what it says besides."""

    note: Note | None
    facts: dict[str, Any] = {}  # noqa: RUF012 - never changed

    def shown(self) -> dict[str, Any]:
        """The row as an answer has it."""
        return (self.note.summary() if self.note else {}) | self.facts


def by_modified(notes: list[Note]) -> list[Note]:
    """The notes, that changed last first; in the order of their paths where that does not decide."""
    return sorted(sorted(notes, key=_path), key=lambda note: dates.sort_key(note.modified), reverse=True)


def by_created(notes: list[Note]) -> list[Note]:
    """The notes, that were created last first, those that do not say when at the end; then as their paths are."""
    return sorted(sorted(notes, key=_path), key=lambda note: dates.sort_key(note.created), reverse=True)


def _path(note: Note) -> str:
    return note.path
