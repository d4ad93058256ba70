"""Listing notes: which, in which order, and which page of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule_opennotes.answers.pages import add_guidance, cut, read_bounds
from ferrule_opennotes.notebook.globs import matches
from ferrule_opennotes.notebook.order import sort_notes
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
    """Return `{"notes", "notebook", "pagination"}`, and `_guidance` if there is more.

    Raises ToolError with CLI_NOT_FOUND, NOTEBOOK_NOT_FOUND or PATH_TRAVERSAL.
    """
    notebook = open_notebook(arguments.get("notebook"), find_program(context).kind)
    notes = _filter(notebook.list_notes(), arguments.get("pattern") or _EVERYTHING)
    field = arguments.get("sortBy") or "modified"
    order = arguments.get("sortOrder") or ("desc" if field in _DATES else "asc")
    ordered = sort_notes(notes, field, is_descending=order == "desc")
    offset, limit = read_bounds(arguments)
    page = cut([note.summarize() for note in ordered[offset : offset + limit]], len(ordered), offset, limit)
    document: ListAnswer = {"notes": page.items, "notebook": notebook.describe(), "pagination": page.pagination}
    return add_guidance(document, page.guidance)


def _filter(notes: list[Note], pattern: str) -> list[Note]:
    wanted = normalize(pattern) + ("/" if pattern.endswith("/") else "")
    return notes if wanted == _EVERYTHING else [note for note in notes if matches(note.path, wanted)]
