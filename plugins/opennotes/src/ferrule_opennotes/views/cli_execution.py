"""A view that is not known here, because the CLI is newer: the CLI runs it, on the notebook."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from ferrule_opennotes import errors
from ferrule_opennotes.program.cli_errors import require_success
from ferrule_opennotes.program.process import ProgramTimeout
from ferrule_opennotes.program.process import run as run_program
from ferrule_opennotes.views.definitions import Definition, make_refusal
from ferrule_opennotes.views.rows import Row

if TYPE_CHECKING:
    from ferrule import Context
    from ferrule.text.json_types import JSONMapping
    from ferrule_opennotes.notebook.notebook import Notebook
    from ferrule_opennotes.notebook.notes import Note
    from ferrule_opennotes.program.process import Program

_NOTHING = "No notes found"  # which is no JSON, even where that is asked for
_CONTENT = ("content", "file", "file_path", "metadata")


def run(
    definition: Definition, given: Mapping[str, str], notebook: Notebook, program: Program, context: Context
) -> list[Row]:
    """What the CLI answers: the notes that it names, with what it says of them besides, and any other row as it is.

    Raises ToolError INVALID_INPUT for a value that the CLI cannot be given, QUERY_TIMEOUT and CLI_FAILED.
    """
    arguments = ["notes", "view", "--format=json", *_join_parameters(definition.name, given), "--", definition.name]
    # The CLI takes a folder of its own kind of notebook; the working directory decides nothing then.
    try:
        output = run_program(program, arguments, context, cwd=notebook.root, notebook=notebook.path)
    except ProgramTimeout as slow:
        raise errors.query_timeout(slow.seconds) from None
    text = require_success(output, program, arguments).strip()
    if not text or text.endswith(_NOTHING):
        return []
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        raise errors.cli_failed("its answer is no JSON", [program.path, *arguments]) from None
    notes = {note.path: note for note in notebook.list_notes()}
    places = {note.absolute: note.path for note in notes.values()}
    return [_make_row(row, group, notes, places) for row, group in _list_rows(answer)]


def _join_parameters(view: str, given: Mapping[str, str]) -> list[str]:
    """The parameters as the CLI takes them: all in one argument, so that no comma can be in a value."""
    for name, value in given.items():
        if "," in str(value):
            hint = "Ask for one value after the other."
            raise make_refusal(view, f"the CLI takes no comma in a value, and '{name}' has one", hint)
    return ["--param=" + ",".join(f"{name}={value}" for name, value in given.items())] if given else []


def _list_rows(answer: object) -> Iterator[tuple[object, str | None]]:
    """The rows with their groups, in whichever of its shapes the CLI answers."""
    rows = answer.get("notes") if isinstance(answer, Mapping) else answer
    if isinstance(rows, list):
        yield from ((row, None) for row in rows)
        return
    groups = answer.get("groups", answer) if isinstance(answer, Mapping) else {}
    for name in sorted(groups or {}):
        if isinstance(groups[name], list):
            yield from ((row, name) for row in groups[name])


def _make_row(row: object, group: str | None, notes: Mapping[str, Note], places: Mapping[str, str]) -> Row:
    facts = {"group": group} if group is not None else {}
    if not isinstance(row, Mapping):
        return Row(None, {"value": row} | facts)
    note = notes.get(_find_path(row, places))
    if note is None:
        return Row(None, dict(row) | facts)
    return Row(note, {name: value for name, value in row.items() if name not in _CONTENT} | facts)


def _find_path(row: JSONMapping, places: Mapping[str, str]) -> str:
    file = row.get("file")
    if isinstance(file, Mapping):
        return str(file.get("relative") or "")
    return places.get(str(row.get("file_path") or ""), str(row.get("path") or ""))
