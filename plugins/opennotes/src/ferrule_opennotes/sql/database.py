"""An in-memory DuckDB of our own: it holds the notes that a statement asks for, and can reach nothing else."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any, TypeVar

from ferrule import ToolError
from ferrule_opennotes.errors import invalid_sql, query_timeout
from ferrule_opennotes.notebook import globs
from ferrule_opennotes.sql import limits, metadata, tree, values
from ferrule_opennotes.sql.errors import complaint
from ferrule_opennotes.sql.markdown import MACROS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import duckdb

    from ferrule_opennotes.notebook.notes import Note

_Result = TypeVar("_Result")

_BATCH = 4_000_000  # characters of notes that are handed over at a time
_PATIENCE = 0.2  # seconds that an interrupted query has to end
_SETUP = (
    "SET TimeZone = 'UTC'",
    "SET enable_progress_bar = false",
    "CREATE SCHEMA ferrule",
    "CREATE TABLE ferrule.notes"
    "(file_path VARCHAR, content VARCHAR, metadata MAP(VARCHAR, VARCHAR), patterns VARCHAR[])",
    *MACROS,
)
_LOCKS = (
    "SET disabled_filesystems = 'LocalFileSystem'",
    "SET enable_external_access = false",
    "SET lock_configuration = true",
)
_INSERT = """
INSERT INTO ferrule.notes
SELECT note.f, note.c, note.m, note.p
FROM (
    SELECT unnest(from_json(?, '[{"f": "VARCHAR", "c": "VARCHAR", "m": "MAP(VARCHAR, VARCHAR)", "p": ["VARCHAR"]}]'))
    AS note
)
"""
# Each of the usual eight threads takes 72 MiB of the address space, and none has anything to do without files.
_SPARING = {"async_threads": 1}
_MEMORY_HINT = "If it is installed, it may need more memory than FERRULE_MEMORY (MiB) allows."
_ANSWER = "CREATE TEMP TABLE answer AS\n"


class Database:
    """One database for one statement.

    notes: all that the notebook has, and each is forgotten once it is loaded, where the caller does not keep it.
    patterns: those that the statement reads; notes that none of them fits are not loaded. seconds: until everything
    has to be over.
    """

    def __init__(self, notes: Iterable[Note], patterns: Sequence[str], seconds: float) -> None:
        self._seconds = seconds
        self._deadline = _now() + seconds
        self._memory = limits.memory()
        self._connection = _connected(self._memory)
        self._columns: list[tuple[str, str]] = []
        self.total = 0
        self._guarded(lambda: self._load(notes, patterns))

    def run(self, statement: str) -> None:
        """Judge the statement once more, carry it out, and keep its rows. Raises INVALID_SQL and QUERY_TIMEOUT."""
        self._guarded(lambda: tree.judge(self._connection, statement))
        self._guarded(lambda: self._materialise(statement), lines_before=1)

    def rows(self, offset: int, limit: int) -> list[dict[str, Any]]:
        """The rows from `offset` on, `limit` at most, each as JSON by the names of its columns."""
        return self._guarded(lambda: self._page(offset, limit))

    def _load(self, notes: Iterable[Note], patterns: Sequence[str]) -> None:
        for statement in _SETUP:
            self._connection.execute(statement)
        for batch in _batches(_rows(notes, patterns)):
            if _now() > self._deadline:
                raise query_timeout(self._seconds)
            self._connection.execute(_INSERT, [f"[{','.join(batch)}]"])
        for statement in _LOCKS:
            self._connection.execute(statement)

    def _materialise(self, statement: str) -> None:
        self._connection.execute(_ANSWER + statement)
        described = self._connection.execute("DESCRIBE answer").fetchall()
        self._columns = [(name, kind) for name, kind, *_ in described]
        counted = self._connection.execute("SELECT count(*) FROM answer").fetchone()
        self.total = counted[0] if counted else 0

    def _page(self, offset: int, limit: int) -> list[dict[str, Any]]:
        columns = ", ".join(_selected(name, kind) for name, kind in self._columns)
        page = self._connection.execute(f"SELECT {columns} FROM answer LIMIT ? OFFSET ?", [limit, offset])  # noqa: S608
        return [self._row(row) for row in page.fetchall()]

    def _row(self, row: Sequence[Any]) -> dict[str, Any]:
        pairs = zip(self._columns, row, strict=True)
        return {values.as_json(name): _value(kind, value) for (name, kind), value in pairs}

    def _guarded(self, work: Callable[[], _Result], lines_before: int = 0) -> _Result:
        """Do the work in time, or raise QUERY_TIMEOUT; what DuckDB fails with becomes INVALID_SQL.

        It runs in a thread, since a single function can keep DuckDB from noticing that it has been interrupted.
        """
        import duckdb

        outcome = _Outcome(work)
        thread = threading.Thread(target=outcome.fetch, daemon=True)
        try:
            thread.start()
        except RuntimeError as error:  # no room for its stack
            raise complaint(error, self._memory) from None
        thread.join(max(0.0, self._deadline - _now()))
        if thread.is_alive():
            self._connection.interrupt()
            thread.join(_PATIENCE)
            raise query_timeout(self._seconds)
        if isinstance(outcome.error, ToolError):
            raise outcome.error
        if isinstance(outcome.error, duckdb.Error | MemoryError):
            raise complaint(outcome.error, self._memory, lines_before) from None
        if outcome.error:
            raise outcome.error
        return outcome.result  # type: ignore[no-any-return]


class _Outcome:
    """What a piece of work ended with."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self._work = work
        self.result: Any = None
        self.error: BaseException | None = None

    def fetch(self) -> None:
        try:
            self.result = self._work()
        except BaseException as error:  # noqa: BLE001 - it is raised again by who waits
            self.error = error


def _connected(memory: int) -> duckdb.DuckDBPyConnection:
    try:
        import duckdb
    except ImportError as error:
        raise invalid_sql(f"the package duckdb cannot be loaded: {error.name or error}", _MEMORY_HINT) from None
    configuration: dict[str, Any] = {
        "memory_limit": f"{memory}MiB",
        "threads": 2,
        "temp_directory": "",
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "allow_community_extensions": False,
        "allow_persistent_secrets": False,
        "python_enable_replacements": False,
    }
    try:
        return duckdb.connect(":memory:", config=configuration | _SPARING)
    except (duckdb.InvalidInputException, duckdb.CatalogException):  # an earlier version, which has no such threads
        return duckdb.connect(":memory:", config=configuration)
    except (duckdb.Error, MemoryError, RuntimeError) as error:
        raise complaint(error, memory) from None


def _rows(notes: Iterable[Note], patterns: Sequence[str]) -> Iterator[str]:
    """The notes that a pattern fits, each as JSON: file, content, metadata, patterns."""
    for note in notes:
        fitting = [pattern for pattern in patterns if globs.matches(note.path, pattern)]
        if fitting:
            fields = metadata.as_text(note.frontmatter)
            yield json.dumps({"f": note.path, "c": note.text, "m": fields, "p": fitting}, ensure_ascii=False)


def _batches(rows: Iterator[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    length = 0
    for row in rows:
        batch.append(row)
        length += len(row)
        if length > _BATCH:
            yield batch
            batch, length = [], 0
    if batch:
        yield batch


def _selected(name: str, kind: str) -> str:
    quoted = '"' + name.replace('"', '""') + '"'
    kind_to_read = values.read_as(kind)
    return f"CAST({quoted} AS {kind_to_read}) AS {quoted}" if kind_to_read else quoted


def _value(kind: str, value: Any) -> Any:
    return values.zoned(value) if kind == "TIMESTAMP WITH TIME ZONE" else values.as_json(value)


def _now() -> float:
    import time

    return time.monotonic()
