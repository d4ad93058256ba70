"""Who answers an SQL query: the database of our own where it is installed, else the CLI."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from ferrule_opennotes.sql import guard, limits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrule import Context
    from ferrule_opennotes.notebook.notebook import Notebook
    from ferrule_opennotes.notebook.notes import Note
    from ferrule_opennotes.program.discovery import Program


class Rows(Protocol):
    """The rows of an answer. total: how many there are."""

    @property
    def total(self) -> int: ...

    def rows(self, offset: int, limit: int) -> list[dict[str, Any]]:
        """The rows from `offset` on, `limit` at most, each as JSON by the names of its columns."""


def query(statement: str, notebook: Notebook, program: Program, context: Context) -> Rows:
    """Judge a statement and carry it out. Nothing is started, and no database imported, for one that is refused.

    Raises ToolError INVALID_SQL with the reason, QUERY_TIMEOUT, and CLI_FAILED where the CLI answers and fails.
    """
    judged = guard.judge(statement)
    if _has_database():
        from ferrule_opennotes.sql.database import Database

        database = Database(_one_by_one(notebook.notes()), judged.patterns, limits.seconds(context))
        database.run(judged.text)
        return database
    from ferrule_opennotes.sql.through_cli import ask

    return ask(judged, notebook, program, context)


def _one_by_one(notes: list[Note]) -> Iterator[Note]:
    """Each note, which nobody holds any more once the next one is asked for: it holds its text."""
    notes.reverse()
    while notes:
        yield notes.pop()


def _has_database() -> bool:
    from importlib.util import find_spec

    return find_spec("duckdb") is not None
