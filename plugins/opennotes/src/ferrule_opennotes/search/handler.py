"""One search: by SQL where a statement is given, else by filters and text together, each note once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ferrule_opennotes import errors
from ferrule_opennotes.answers import pages
from ferrule_opennotes.notebook.resolution import open_notebook
from ferrule_opennotes.program.discovery import find_program
from ferrule_opennotes.query import filters
from ferrule_opennotes.query.text import find_containing, rank

if TYPE_CHECKING:
    from ferrule import Context, JSONObject
    from ferrule_opennotes.answers.types import Execution, SearchAnswer
    from ferrule_opennotes.notebook.notebook import Notebook
    from ferrule_opennotes.notebook.notes import Note


def find_problems(arguments: JSONObject) -> list[str]:
    """What is wrong with the arguments that their schema cannot say."""
    found = pages.find_problems(arguments) + filters.find_problems(arguments.get("filters") or {})
    if not any((arguments.get("sql"), arguments.get("query"), filters.parse(arguments.get("filters")), found)):
        found.append("query, filters, sql: nothing is asked for; give one of them, or list all notes by opennotes_list")
    if arguments.get("sql") and (arguments.get("query") or filters.parse(arguments.get("filters"))):
        found.append("sql: it stands alone; put what 'query' and 'filters' ask for into its WHERE, or leave it out")
    return found


def answer(arguments: JSONObject, context: Context) -> SearchAnswer:
    """Return `{"results", "pagination", "query"}`, and `_guidance` if there is more.

    Raises ToolError with CLI_NOT_FOUND, NOTEBOOK_NOT_FOUND, INVALID_SQL, QUERY_TIMEOUT or CLI_FAILED.
    """
    notebook = open_notebook(arguments.get("notebook"), find_program(context).kind)
    if statement := arguments.get("sql"):
        return _answer_sql(statement, arguments, notebook, context)
    notes, query = _search(arguments, notebook)
    offset, limit = pages.read_bounds(arguments)
    summaries = [note.summarize() for note in notes[offset : offset + limit]]
    return _compose(pages.cut(summaries, len(notes), offset, limit), query)


def _answer_sql(statement: str, arguments: JSONObject, notebook: Notebook, context: Context) -> SearchAnswer:
    from ferrule_opennotes.sql.database import ask

    offset, limit = pages.read_bounds(arguments)
    database = ask(statement, notebook, context)
    page = pages.cut(database.fetch_rows(offset, limit), database.total, offset, limit)
    return _compose(page, {"type": "sql", "executed": errors.shorten(statement)})


def _search(arguments: JSONObject, notebook: Notebook) -> tuple[Sequence[Note], Execution]:
    """The notes that fit, and the `query` of the answer: what was carried out."""
    notes, kind, parts = notebook.list_notes(), "text", []
    if conditions := filters.parse(arguments.get("filters")):
        notes, kind = filters.select(notes, notebook.root, conditions), "boolean"
        parts.append(errors.shorten(filters.describe(conditions)))
    if query := arguments.get("query"):
        is_fuzzy = bool(arguments.get("fuzzy"))
        notes, kind = (rank(notes, query), "fuzzy") if is_fuzzy else (find_containing(notes, query), kind)
        parts.append(f"title or content {'is like' if is_fuzzy else 'contains'} {errors.shorten(query)!r}")
    return notes, {"type": kind, "executed": " AND ".join(parts)}


def _compose(page: pages.Page, query: Execution) -> SearchAnswer:
    document: SearchAnswer = {"results": page.items, "pagination": page.pagination, "query": query}
    return pages.add_guidance(document, page.guidance)
