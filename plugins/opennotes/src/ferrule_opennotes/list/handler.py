"""Listing notes: which, in which order, and which page of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ferrule_opennotes.answers.pages import bounds, cut
from ferrule_opennotes.notebook import dates
from ferrule_opennotes.notebook.globs import matches
from ferrule_opennotes.notebook.paths import inside
from ferrule_opennotes.notebook.resolution import opened
from ferrule_opennotes.program.discovery import find

if TYPE_CHECKING:
    from ferrule import Context
    from ferrule_opennotes.notebook.notes import Note

_EVERYTHING = "**/*.md"
_DATES = ("modified", "created")


def answer(arguments: dict[str, Any], context: Context) -> dict[str, Any]:
    """Do what `execute` promises."""
    notebook = opened(arguments.get("notebook"), find(context).kind)
    notes = _matching(notebook.notes(), arguments.get("pattern") or _EVERYTHING)
    field = arguments.get("sortBy") or "modified"
    ordered = _sorted(notes, field, arguments.get("sortOrder") or ("desc" if field in _DATES else "asc"))
    offset, limit = bounds(arguments)
    page = cut([note.summary() for note in ordered[offset : offset + limit]], len(ordered), offset, limit)
    document = {"notes": page.items, "notebook": notebook.named(), "pagination": page.pagination}
    return document | ({"_guidance": page.guidance} if page.guidance else {})


def _matching(notes: list[Note], pattern: str) -> list[Note]:
    wanted = inside(pattern) + ("/" if pattern.endswith("/") else "")
    return notes if wanted == _EVERYTHING else [note for note in notes if matches(note.path, wanted)]


def _sorted(notes: list[Note], field: str, order: str) -> list[Note]:
    """The notes by a field; those that are alike in it by path, those without it last, whichever the order."""
    descending = order == "desc"
    if field == "path":
        return sorted(notes, key=lambda note: note.path, reverse=descending)
    if field == "title":
        return sorted(notes, key=lambda note: note.name.casefold(), reverse=descending)
    if field == "modified":
        return sorted(notes, key=_modified, reverse=descending)
    undated = [note for note in notes if note.created is None]
    dated = [note for note in notes if note.created is not None]
    return sorted(dated, key=lambda note: dates.sort_key(note.created), reverse=descending) + undated


def _modified(note: Note) -> float:
    stated = note.stated_modified
    return dates.sort_key(stated) if stated else note.mtime
