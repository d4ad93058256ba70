"""One search: by SQL where a statement is given, else by filters and text together, each note once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ferrule_opennotes import errors
from ferrule_opennotes.answers import pages
from ferrule_opennotes.notebook.resolution import opened
from ferrule_opennotes.program.discovery import Program, find
from ferrule_opennotes.query import filters

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferrule import Context
    from ferrule_opennotes.notebook.notebook import Notebook
    from ferrule_opennotes.notebook.notes import Note


def findings(arguments: dict[str, Any]) -> list[str]:
    """What is wrong with the arguments that their schema cannot say."""
    found = pages.findings(arguments) + filters.findings(arguments.get("filters") or {})
    if arguments.get("sql") and (arguments.get("query") or filters.parsed(arguments.get("filters"))):
        found.append("sql: it stands alone; put what 'query' and 'filters' ask for into its WHERE, or leave it out")
    return found


def answer(arguments: dict[str, Any], context: Context) -> dict[str, Any]:
    """Do what `execute` promises."""
    program = find(context)
    notebook = opened(arguments.get("notebook"), program.kind)
    if statement := arguments.get("sql"):
        return _by_sql(statement, arguments, notebook, program, context)
    notes, query = _found(arguments, notebook)
    offset, limit = pages.bounds(arguments)
    summaries = [note.summary() for note in notes[offset : offset + limit]]
    return _document(pages.cut(summaries, len(notes), offset, limit), query)


def _by_sql(
    statement: str, arguments: dict[str, Any], notebook: Notebook, program: Program, context: Context
) -> dict[str, Any]:
    from ferrule_opennotes.sql.query import query

    offset, limit = pages.bounds(arguments)
    rows = query(statement, notebook, program, context)
    page = pages.cut(rows.rows(offset, limit), rows.total, offset, limit)
    return _document(page, {"type": "sql", "executed": errors.shown(statement)})


def _found(arguments: dict[str, Any], notebook: Notebook) -> tuple[Sequence[Note], dict[str, str]]:
    """The notes that fit, and the `query` of the answer: what was carried out."""
    notes, kind, parts = notebook.notes(), "text", []
    if conditions := filters.parsed(arguments.get("filters")):
        notes, kind = filters.satisfying(notes, notebook.root, conditions), "boolean"
        parts.append(errors.shown(filters.shown(conditions)))
    if query := arguments.get("query"):
        kind = "fuzzy" if arguments.get("fuzzy") else kind
        notes = _by_text(notes, query, fuzzy=bool(arguments.get("fuzzy")))
        parts.append(f"title or content {'is like' if arguments.get('fuzzy') else 'contains'} {errors.shown(query)!r}")
    return notes, {"type": kind, "executed": " AND ".join(parts) or "all notes"}


def _by_text(notes: Sequence[Note], query: str, *, fuzzy: bool) -> list[Note]:
    if fuzzy:
        from ferrule_opennotes.query.fuzzy import alike

        return alike(notes, query)
    from ferrule_opennotes.query.text import containing

    return containing(notes, query)


def _document(page: pages.Page, query: dict[str, str]) -> dict[str, Any]:
    document = {"results": page.items, "pagination": page.pagination, "query": query}
    return document | ({"_guidance": page.guidance} if page.guidance else {})
