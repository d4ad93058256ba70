"""Giving one note: its content from the line that was asked for, as far as one answer holds it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, NamedTuple

from ferrule_opennotes import errors
from ferrule_opennotes.answers.pages import MAX_BYTES, add_guidance, count_bytes, cut_text, paginate
from ferrule_opennotes.notebook.resolution import open_notebook
from ferrule_opennotes.program.discovery import find_program

if TYPE_CHECKING:
    from ferrule import Context, JSONObject
    from ferrule_opennotes.answers.types import GetAnswer, NoteContent
    from ferrule_opennotes.notebook.notebook import Notebook
    from ferrule_opennotes.notebook.notes import Note

_MAX_LINES = 2000 * 3 // 4
_FRONTMATTER_BYTES = 50 * 1024 // 4  # the quarter of an answer that is not for content
_PLACE = re.compile(r"(.+)#L([1-9][0-9]{0,8})(?:C([1-9][0-9]{0,8}))?\Z", re.DOTALL)
_LINE = re.compile(r"[^\n]*\n|[^\n]+")


class _Page(NamedTuple):
    """Lines of a note. then: where the next page begins, as `L12` or `L12C38401`; None after the last."""

    content: str
    first: int
    returned: int
    total: int
    then: str | None


def answer(arguments: JSONObject, context: Context) -> GetAnswer:
    """Return `{"note", "notebook"}`, and `pagination` and `_guidance` where the content does not fit one answer.

    Raises ToolError with CLI_NOT_FOUND, NOTEBOOK_NOT_FOUND, NOTE_NOT_FOUND or PATH_TRAVERSAL.
    """
    notebook = open_notebook(arguments.get("notebook"), find_program(context).kind)
    note, line, column = _find_note(notebook, arguments["path"])
    page = _cut_page(note.text, line, column) if arguments.get("includeContent", True) else None
    document: GetAnswer = {"note": _describe(note, page), "notebook": notebook.describe()}
    said = [note.fault] if note.fault else []
    if page and note.encoding != "utf-8":
        said.append("The file is UTF-16 and was read as such; OpenNotes reads UTF-8, so save it as that.")
    if page and (page.then or page.first > 1 or len(page.content) < len(note.text)):
        has_more = page.then is not None
        document["pagination"] = paginate(page.total, page.returned, page.first - 1, _MAX_LINES, has_more=has_more)
        said += _guide(note, page, context)
    return add_guidance(document, " ".join(said))


def _find_note(notebook: Notebook, path: str) -> tuple[Note, int, int]:
    """The note, and line and column to begin at, both from 1: `note.md#L1501` is how the next page is asked for."""
    place = _PLACE.match(path)
    if place is None:
        return notebook.find_note(path), 1, 1
    return notebook.find_note(place[1]), int(place[2]), int(place[3] or 1)


def _describe(note: Note, page: _Page | None) -> NoteContent:
    described: NoteContent = {"path": note.path}
    if page:
        described["content"] = page.content
    if note.title is not None:
        described["title"] = errors.shorten(note.title)
    if note.frontmatter and count_bytes(note.frontmatter) <= _FRONTMATTER_BYTES:
        described["frontmatter"] = note.frontmatter
    described["wordCount"] = len(note.body.split())
    return described


def _cut_page(text: str, line: int, column: int) -> _Page:
    lines = _LINE.findall(text)
    taken: list[str] = []
    size, number = 0, line
    for number, each in enumerate(lines[line - 1 :], start=line):
        rest = each[column - 1 :] if number == line else each
        size += count_bytes(rest) - 2
        if size > MAX_BYTES or len(taken) == _MAX_LINES:
            break
        taken.append(rest)
    else:
        return _Page("".join(taken), line, len(taken), len(lines), None)
    if taken:
        return _Page("".join(taken), line, len(taken), len(lines), f"L{number}")
    begun = column if number == line else 1
    part = cut_text(lines[number - 1][begun - 1 :], MAX_BYTES)
    return _Page(part, line, 0, len(lines), f"L{number}C{begun + len(part)}")


def _guide(note: Note, page: _Page, context: Context) -> list[str]:
    if page.then is None:
        return [f"The note has {page.total} lines."] if page.first > page.total else []
    tool = context.name_of("opennotes_get")
    path = json.dumps(f"{note.path}#{page.then}", ensure_ascii=False)
    return [f'The note goes on. To fetch the rest: {tool} with {{ "path": {path} }}']
