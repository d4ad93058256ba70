"""The six views that both generations of the CLI have, as their documentation describes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ferrule_opennotes.links import Links
from ferrule_opennotes.notebook import dates
from ferrule_opennotes.notebook.notes import Note, to_text
from ferrule_opennotes.views.conditions.fields import to_number
from ferrule_opennotes.views.definitions import Definition, Parameter, ViewDefect, make_refusal
from ferrule_opennotes.views.rows import Row, sort_by_created, sort_by_modified

if TYPE_CHECKING:
    from datetime import datetime

    from ferrule_opennotes.program.process import Kind
    from ferrule_opennotes.views.parameters import Values

RECENT = 20
STATUSES = ("backlog", "todo", "in-progress", "reviewing", "testing", "deploying", "done")
ORPHANS = ("no-incoming", "no-links", "isolated")
_PRIORITIES = {"urgent": 4, "critical": 4, "highest": 4, "high": 3, "medium": 2, "normal": 2, "low": 1, "lowest": 0}

_STATUS = Parameter("status", "list", description="Statuses to show, with commas between them, in this order")
_DEFINITION = Parameter("definition", "string", default=ORPHANS[0], description=f"One of {', '.join(ORPHANS)}")

VIEWS = {
    view.name: view
    for view in (
        Definition("today", "built-in", "Notes created or modified today"),
        Definition("recent", "built-in", f"The {RECENT} notes that were modified last"),
        Definition("kanban", "built-in", "Notes by their status", (_STATUS,)),
        Definition("untagged", "built-in", "Notes without tags"),
        Definition("orphans", "built-in", "Notes that no other note links to", (_DEFINITION,)),
        Definition("broken-links", "built-in", "Notes with links that name nothing in the notebook"),
    )
}


def list_views(kind: Kind) -> dict[str, Definition | ViewDefect]:
    """The views by name. opennotes shows seven statuses where a call names none, and jot all there are."""
    if kind == "jot":
        return dict(VIEWS)
    kanban = VIEWS["kanban"]._replace(parameters=(_STATUS._replace(default=",".join(STATUSES)),))
    return {**VIEWS, "kanban": kanban}


def run(name: str, notes: list[Note], root: str, values: Values) -> list[Row]:
    """The rows of a built-in view. root: the folder of the notes. Raises ToolError INVALID_INPUT."""
    if name == "orphans":
        definition = values.text("{{definition}}") if values.has("definition") else ORPHANS[0]
        return _find_orphans(notes, Links(notes, root), definition)
    if name == "broken-links":
        return _find_broken_links(notes, Links(notes, root))
    if name == "kanban":
        return _sort_by_status(notes, values)
    return [Row(note) for note in _PLAIN[name](notes, values.now)]


def _select_today(notes: list[Note], now: datetime) -> list[Note]:
    def is_of_today(text: str | None) -> bool:
        instant = dates.parse(text)
        return instant is not None and dates.day_of(instant, now.tzinfo) == now.date()

    return sort_by_modified([note for note in notes if is_of_today(note.modified) or is_of_today(note.created)])


def _select_recent(notes: list[Note], now: datetime) -> list[Note]:
    return sort_by_modified(notes)[:RECENT]


def _select_untagged(notes: list[Note], now: datetime) -> list[Note]:
    return sort_by_created([note for note in notes if not note.tags])


_PLAIN: dict[str, Callable[[list[Note], datetime], list[Note]]] = {
    "today": _select_today,
    "recent": _select_recent,
    "untagged": _select_untagged,
}


def _sort_by_status(notes: list[Note], values: Values) -> list[Row]:
    wanted = values.alternatives("{{status}}") if values.has("status") else None
    columns: dict[str, list[Note]] = {status: [] for status in (STATUSES if wanted is None else wanted)}
    for note in sort_by_modified(notes):
        status = _status(note, columns)
        if status in columns or (status and wanted is None):
            columns.setdefault(status, []).append(note)
    order = [status for status in columns if wanted or status in STATUSES]
    order += sorted(set(columns) - set(order))
    return [_make_card(note) for status in order for note in sorted(columns[status], key=_priority)]


def _status(note: Note, columns: dict[str, list[Note]]) -> str:
    """The status of a note; of several the first that is asked for."""
    value = note.frontmatter.get("status")
    if isinstance(value, list):
        texts = [to_text(item).strip() for item in value]
        return next((text for text in texts if text in columns), texts[0] if texts else "")
    return "" if value is None or isinstance(value, dict) else to_text(value).strip()


def _make_card(note: Note) -> Row:
    facts = {name: note.frontmatter.get(name) for name in ("status", "priority")}
    return Row(note, {name: value for name, value in facts.items() if value is not None})


def _priority(note: Note) -> tuple[int, float]:
    """Numbers first, the largest before the others; then words; then what has no rank; then nothing."""
    value = note.frontmatter.get("priority")
    number = to_number(value)
    if number is not None and not isinstance(value, bool):
        return (0, -number)
    if not isinstance(value, str):
        return (3, 0) if value is None else (2, 0)
    rank = _PRIORITIES.get(value.strip().lower())
    return (2, 0) if rank is None else (1, -rank)


def _find_orphans(notes: list[Note], links: Links, definition: str) -> list[Row]:
    if definition not in ORPHANS:
        raise make_refusal("orphans", f"its parameter 'definition' is none of {', '.join(ORPHANS)}")
    found = [note for note in notes if not links.incoming(note.path) - {note.path}]
    if definition != "no-incoming":
        found = [note for note in found if not _leads_anywhere(note, links)]
    if definition == "isolated":
        found = [note for note in found if not note.tags and not note.frontmatter.get("category")]
    return [Row(note) for note in sort_by_created(found)]


def _leads_anywhere(note: Note, links: Links) -> bool:
    return any(target.kind != "image" and target.note != note.path for target in links.outgoing(note))


def _find_broken_links(notes: list[Note], links: Links) -> list[Row]:
    found = [(note, links.broken(note)) for note in sort_by_modified(notes)]
    return [Row(note, {"brokenLinks": broken, "linkCount": len(broken)}) for note, broken in found if broken]
