"""Listing notes: which, in which order, and which page of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ferrule_opennotes.answers.pages import add_guidance, cut, read_bounds
from ferrule_opennotes.notebook import dates
from ferrule_opennotes.notebook.globs import matches
from ferrule_opennotes.notebook.paths import normalize
from ferrule_opennotes.notebook.resolution import open_notebook
from ferrule_opennotes.program.discovery import find_program

if TYPE_CHECKING:
    from ferrule import Context, JSONObject
    from ferrule_opennotes.answers.types import ListAnswer
    from ferrule_opennotes.notebook.notes import Note

_EVERYTHING = "**/*.md"
_DATES = ("modified", "created")


def answer(arguments: JSONObject, context: Context) -> ListAnswer:
    """Do what `execute` promises."""
    notebook = open_notebook(arguments.get("notebook"), find_program(context).kind)
    notes = _filter(notebook.list_notes(), arguments.get("pattern") or _EVERYTHING)
    field = arguments.get("sortBy") or "modified"
    ordered = _sort(notes, field, arguments.get("sortOrder") or ("desc" if field in _DATES else "asc"))
    offset, limit = read_bounds(arguments)
    page = cut([note.summarize() for note in ordered[offset : offset + limit]], len(ordered), offset, limit)
    document: ListAnswer = {"notes": page.items, "notebook": notebook.describe(), "pagination": page.pagination}
    return add_guidance(document, page.guidance)


def _filter(notes: list[Note], pattern: str) -> list[Note]:
    wanted = normalize(pattern) + ("/" if pattern.endswith("/") else "")
    return notes if wanted == _EVERYTHING else [note for note in notes if matches(note.path, wanted)]


def _sort(notes: list[Note], field: str, order: str) -> list[Note]:
    """The notes by a field; those that are alike in it by path, those without it last, whichever the order."""
    descending = order == "desc"
    if field in _KEYS:
        return sorted(notes, key=_KEYS[field], reverse=descending)
    undated = [note for note in notes if note.created is None]
    dated = [note for note in notes if note.created is not None]
    return sorted(dated, key=lambda note: dates.sort_key(note.created), reverse=descending) + undated


_KEYS: dict[str, Callable[[Note], Any]] = {
    "path": lambda note: note.path,
    "title": lambda note: note.name.casefold(),
    "modified": lambda note: dates.sort_key(stated) if (stated := note.stated_modified) else note.mtime,
}
