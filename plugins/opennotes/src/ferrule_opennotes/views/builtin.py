"""The six views that both generations of the CLI have, as their documentation describes them: most are queries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule_opennotes.links import Links
from ferrule_opennotes.notebook.notes import Note, list_texts
from ferrule_opennotes.notebook.order import sort_notes
from ferrule_opennotes.views.conditions.statement import parse_statement
from ferrule_opennotes.views.definitions import Definition, Parameter, make_refusal

if TYPE_CHECKING:
    from ferrule_opennotes.program.process import Kind
    from ferrule_opennotes.views.parameters import Values
    from ferrule_opennotes.views.table import Row

STATUSES = ("backlog", "todo", "in-progress", "reviewing", "testing", "deploying", "done")
ORPHANS = ("no-incoming", "no-links", "isolated")

_STATUS = Parameter("status", "list", description="Statuses to show, with commas between them, in this order")
_DEFINITION = Parameter("definition", "string", default=ORPHANS[0], description=f"One of {', '.join(ORPHANS)}")
_TODAY = "created:today OR modified:today | sort:modified:desc"

VIEWS = {
    view.name: view
    for view in (
        Definition("today", "built-in", "Notes created or modified today", query=_TODAY),
        Definition("recent", "built-in", "The 20 notes that were modified last", query="| sort:modified:desc limit:20"),
        Definition("kanban", "built-in", "Notes by their status", (_STATUS,), special="kanban"),
        Definition("untagged", "built-in", "Notes without tags", query="missing:tags | sort:created:desc"),
        Definition("orphans", "built-in", "Notes that no other note links to", (_DEFINITION,), special="orphans"),
        Definition(
            "broken-links", "built-in", "Notes with links that name nothing in the notebook", special="broken-links"
        ),
    )
}


def list_views(kind: Kind) -> dict[str, Definition]:
    """The views by name. opennotes shows seven statuses where a call names none, and jot all there are."""
    if kind == "jot":
        return dict(VIEWS)
    kanban = VIEWS["kanban"]._replace(parameters=(_STATUS._replace(default=",".join(STATUSES)),))
    return {**VIEWS, "kanban": kanban}


def run(name: str, notes: list[Note], root: str, values: Values) -> list[Row]:
    """The rows of a view that is no query alone.

    Args:
        root: the folder of the notes.

    Raises:
        ToolError INVALID_INPUT.
    """
    if name == "orphans":
        definition = values.text("{{definition}}") if values.has("definition") else ORPHANS[0]
        return _find_orphans(notes, Links(notes, root), definition)
    return _find_by_status(notes, values) if name == "kanban" else _find_broken_links(notes, Links(notes, root))


def _find_by_status(notes: list[Note], values: Values) -> list[Row]:
    """The notes in the order of the statuses that are asked for, else of the seven and then of the others' names."""
    asked = values.has("status")
    wanted = {"operator": "IN", "value": "{{status}}"} if asked else {"operator": "!=", "value": ""}
    query = {
        "conditions": [{"field": "metadata->>'status'", **wanted}],
        "order_by": "(metadata->>'priority')::DOUBLE DESC, updated_at DESC",
    }
    order = values.alternatives("{{status}}") if asked else STATUSES

    def place(row: Row) -> tuple[int, str]:
        texts = list_texts(row[1].get("status")) or [""]
        return min((order.index(text), "") if text in order else (len(order), text) for text in texts)

    return sorted(parse_statement(query).run(notes, values), key=place)


def _find_orphans(notes: list[Note], links: Links, definition: str) -> list[Row]:
    if definition not in ORPHANS:
        raise make_refusal("orphans", f"its parameter 'definition' is none of {', '.join(ORPHANS)}")
    found = [note for note in notes if not links.incoming(note.path) - {note.path}]
    if definition != "no-incoming":
        found = [note for note in found if not _leads_anywhere(note, links)]
    if definition == "isolated":
        found = [note for note in found if not note.tags and not note.frontmatter.get("category")]
    return [(note, {}) for note in sort_notes(found, "created", is_descending=True)]


def _leads_anywhere(note: Note, links: Links) -> bool:
    return any(target.kind != "image" and target.note != note.path for target in links.outgoing(note))


def _find_broken_links(notes: list[Note], links: Links) -> list[Row]:
    found = [(note, links.broken(note)) for note in sort_notes(notes, "modified", is_descending=True)]
    return [(note, {"brokenLinks": broken, "linkCount": len(broken)}) for note, broken in found if broken]
