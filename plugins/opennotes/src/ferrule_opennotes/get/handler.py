"""Giving one note: its content from the line that was asked for, as far as one answer holds it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from ferrule_opennotes import errors
from ferrule_opennotes.answers.pages import BYTES, LINES, prefix, size_of
from ferrule_opennotes.notebook.resolution import opened
from ferrule_opennotes.program.discovery import find

if TYPE_CHECKING:
    from ferrule import Context
    from ferrule_opennotes.notebook.notebook import Notebook
    from ferrule_opennotes.notebook.notes import Note

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


def answer(arguments: dict[str, Any], context: Context) -> dict[str, Any]:
    """Do what `execute` promises."""
    notebook = opened(arguments.get("notebook"), find(context).kind)
    note, line, column = _asked(notebook, arguments["path"])
    document: dict[str, Any] = {"note": _described(note), "notebook": notebook.named()}
    if arguments.get("includeContent", True):
        page = _page(note.text, line, column)
        document["note"] = {"path": note.path, "content": page.content} | document["note"]
        document |= _paging(note, page, context)
    return document


def _asked(notebook: Notebook, path: str) -> tuple[Note, int, int]:
    """The note, and line and column to begin at, both from 1: `note.md#L1501` is how the next page is asked for."""
    place = _PLACE.match(path)
    if place is None:
        return notebook.note(path), 1, 1
    return notebook.note(place[1]), int(place[2]), int(place[3] or 1)


def _described(note: Note) -> dict[str, Any]:
    """All but the content."""
    described: dict[str, Any] = {"path": note.path}
    if note.title is not None:
        described["title"] = errors.shown(note.title)
    fields = note.frontmatter
    if fields and size_of(fields) <= _FRONTMATTER_BYTES:
        described["frontmatter"] = fields
    return described | {"wordCount": len(note.body.split())}


def _page(text: str, line: int, column: int) -> _Page:
    lines = _LINE.findall(text)
    taken: list[str] = []
    size, number = 0, line
    for number, each in enumerate(lines[line - 1 :], start=line):
        rest = each[column - 1 :] if number == line else each
        size += size_of(rest) - 2
        if size > BYTES or len(taken) == LINES:
            break
        taken.append(rest)
    else:
        return _Page("".join(taken), line, len(taken), len(lines), None)
    if taken:
        return _Page("".join(taken), line, len(taken), len(lines), f"L{number}")
    begun = column if number == line else 1
    part = prefix(lines[number - 1][begun - 1 :], BYTES)
    return _Page(part, line, 0, len(lines), f"L{number}C{begun + len(part)}")


def _paging(note: Note, page: _Page, context: Context) -> dict[str, Any]:
    """`pagination`, counted in lines, and `_guidance`, where not all of the note is in the answer."""
    if page.then is None and page.first == 1 and len(page.content) == len(note.text):
        return {}
    done = page.first - 1 + page.returned
    pagination: dict[str, Any] = {
        "total": page.total,
        "returned": page.returned,
        "page": (page.first - 1) // LINES + 1,
        "pageSize": LINES,
        "hasMore": page.then is not None,
    }
    if page.then is None:
        beyond = f"The note has {page.total} lines." if page.first > page.total else None
        return {"pagination": pagination} | ({"_guidance": beyond} if beyond else {})
    tool = context.name_of("opennotes_get")
    path = json.dumps(f"{note.path}#{page.then}", ensure_ascii=False)
    guidance = f'The note goes on. To fetch the rest: {tool} with {{ "path": {path} }}'
    return {"pagination": pagination | {"nextOffset": done}, "_guidance": guidance}
