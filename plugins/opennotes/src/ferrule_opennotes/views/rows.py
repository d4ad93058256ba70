"""The rows that a view answers with."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from ferrule_opennotes.notebook import dates

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONMapping, JSONObject
    from ferrule_opennotes.notebook.notes import Note

_path_key = attrgetter("path")


class Row(NamedTuple):
    """A result. note: whose summary it begins with, if any. facts: what it says besides."""

    note: Note | None
    facts: JSONObject = {}  # noqa: RUF012 - never changed

    def describe(self) -> JSONMapping:
        """The row as an answer has it."""
        return {**(self.note.summarize() if self.note else {}), **self.facts}


def sort_by_modified(notes: list[Note]) -> list[Note]:
    """The notes, that changed last first; in the order of their paths where that does not decide."""
    return sorted(sorted(notes, key=_path_key), key=lambda note: dates.sort_key(note.modified), reverse=True)


def sort_by_created(notes: list[Note]) -> list[Note]:
    """The notes, that were created last first, those that do not say when at the end; then as their paths are."""
    return sorted(sorted(notes, key=_path_key), key=lambda note: dates.sort_key(note.created), reverse=True)
