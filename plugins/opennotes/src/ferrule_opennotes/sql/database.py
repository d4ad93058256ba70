"""An in-memory DuckDB of our own: it holds the notes that a statement asks for, and can reach nothing else."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

from ferrule_opennotes.errors import QUERY_SECONDS, invalid_sql, query_timeout
from ferrule_opennotes.notebook import globs
from ferrule_opennotes.sql import tree, values
from ferrule_opennotes.sql.errors import translate
from ferrule_opennotes.sql.markdown import MACROS

if TYPE_CHECKING:
    import duckdb

    from ferrule import Context, JSONObject
    from ferrule_opennotes.notebook.notebook import Notebook
    from ferrule_opennotes.notebook.notes import Note
    from ferrule_opennotes.sql.tree import Query

_Result = TypeVar("_Result")
_Row = tuple[str, str, list[str], list[str | None], list[str]]  # path, content, names and texts of metadata, patterns

_BATCH_CHARS = 4_000_000  # characters of notes that are handed over at a time
_ANSWER_SECONDS = 0.5  # in which the answer is made
_MIN_MIB, _MAX_MIB, _DEFAULT_MIB = 64, 2048, 1024
_MEMORY_SHARE = 0.45  # of the address space that is left; DuckDB does not count all that it takes
_EXIT_GRACE_SECONDS = 0.2  # seconds that an interrupted query has to end
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
SELECT unnest(?::VARCHAR[]), unnest(?::VARCHAR[]), map(unnest(?::VARCHAR[][]), unnest(?::VARCHAR[][])),
    unnest(?::VARCHAR[][])
"""
# Each of the usual eight threads takes 72 MiB of the address space, and none has anything to do without files.
_SPARING = {"async_threads": 1}
_MEMORY_HINT = "If it is installed, it may need more memory than FERRULE_MEMORY (MiB) allows."
_ANSWER = "CREATE TEMP TABLE answer AS\n"


def ask(statement: str, notebook: Notebook, context: Context) -> Database:
    """Judge a statement and carry it out. Raises ToolError INVALID_SQL with the reason, and QUERY_TIMEOUT."""
    database = Database(max(0.1, min(QUERY_SECONDS, context.remaining() - _ANSWER_SECONDS)))
    query = database.judge(statement)
    database.run(query, _one_by_one(notebook.list_notes()))
    return database


class Database:
    """One database for one statement, locked from the start. seconds: until everything has to be over."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._deadline = time.monotonic() + seconds
        self._memory = _compute_memory()
        self._connection = _connect(self._memory)
        self._columns: list[tuple[str, str]] = []
        self.total = 0
        self._guard(lambda: [self._connection.execute(each) for each in (*_SETUP, *_LOCKS)])

    def judge(self, statement: str) -> Query:
        """The statement, if it may be run. Raises INVALID_SQL that says what is refused."""
        return self._guard(lambda: tree.judge(self._connection, statement))

    def run(self, query: Query, notes: Iterable[Note]) -> None:
        """Carry out what has been judged, and keep its rows. Raises INVALID_SQL and QUERY_TIMEOUT.

        notes: all that the notebook has; those that none of the query's patterns fits are not read, and each is
        forgotten once it is loaded, where the caller does not keep it.
        """
        self._guard(lambda: self._load(notes, query.patterns))
        self._guard(lambda: self._materialise(query.text), lines_before=1)

    def fetch_rows(self, offset: int, limit: int) -> list[JSONObject]:
        """The rows from `offset` on, `limit` at most, each as JSON by the names of its columns."""
        return self._guard(lambda: self._page(offset, limit))

    def _load(self, notes: Iterable[Note], patterns: Sequence[str]) -> None:
        for batch in _make_batches(notes, patterns):
            if time.monotonic() > self._deadline:
                raise query_timeout(self._seconds)
            self._connection.execute(_INSERT, [list(column) for column in zip(*batch, strict=True)])

    def _materialise(self, statement: str) -> None:
        self._connection.execute(_ANSWER + statement)
        described = self._connection.execute("DESCRIBE answer").fetchall()
        self._columns = [(name, kind) for name, kind, *_ in described]
        counted = self._connection.execute("SELECT count(*) FROM answer").fetchone()
        self.total = counted[0] if counted else 0

    def _page(self, offset: int, limit: int) -> list[JSONObject]:
        columns = ", ".join(_select(name, kind) for name, kind in self._columns)
        page = self._connection.execute(f"SELECT {columns} FROM answer LIMIT ? OFFSET ?", [limit, offset])  # noqa: S608 - columns of the answer's own table
        names = [str(values.to_json(name)) for name, _ in self._columns]
        kinds = [kind for _, kind in self._columns]
        return [dict(zip(names, map(_convert, kinds, row), strict=True)) for row in page.fetchall()]

    def _guard(self, work: Callable[[], _Result], lines_before: int = 0) -> _Result:
        """Do the work in time, or raise QUERY_TIMEOUT; what DuckDB fails with becomes INVALID_SQL.

        It runs in a thread, since a single function can keep DuckDB from noticing that it has been interrupted.
        """
        import duckdb

        results: list[_Result] = []
        failures: list[BaseException] = []

        def fetch() -> None:
            try:
                results.append(work())
            except BaseException as error:  # noqa: BLE001 - it is raised again by who waits
                failures.append(error)

        thread = threading.Thread(target=fetch, daemon=True)
        try:
            thread.start()
        except RuntimeError as error:  # no room for its stack
            raise translate(error, self._memory) from None
        thread.join(max(0.0, self._deadline - time.monotonic()))
        if thread.is_alive():
            self._connection.interrupt()
            thread.join(_EXIT_GRACE_SECONDS)
            raise query_timeout(self._seconds)
        for failure in failures:
            if isinstance(failure, duckdb.Error | MemoryError):
                raise translate(failure, self._memory, lines_before) from None
            raise failure
        return results[0]


def _compute_memory() -> int:
    """MiB that DuckDB may use: a share of what this process may still take."""
    import resource

    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return _DEFAULT_MIB
    left = (limit - _count_used_bytes()) >> 20
    return int(min(_MAX_MIB, max(_MIN_MIB, left * _MEMORY_SHARE)))


def _count_used_bytes() -> int:
    """Bytes of address space that this process has; 0 where the system does not say."""
    import resource

    try:
        with open("/proc/self/statm", encoding="ascii") as stream:
            return int(stream.read().split()[0]) * resource.getpagesize()
    except (OSError, ValueError):
        return 0


def _connect(memory: int) -> duckdb.DuckDBPyConnection:
    try:
        import duckdb
    except ImportError as error:
        raise invalid_sql(f"the package duckdb cannot be loaded: {error.name or error}", _MEMORY_HINT) from None
    configuration: JSONObject = {
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
        raise translate(error, memory) from None


def _one_by_one(notes: list[Note]) -> Iterator[Note]:
    """Each note, which nothing holds any more once the next one is asked for: it holds its text."""
    notes.reverse()
    while notes:
        yield notes.pop()


def _make_batches(notes: Iterable[Note], patterns: Sequence[str]) -> Iterator[list[_Row]]:
    """The rows of the notes that a pattern fits, a few million characters at a time."""
    batch: list[_Row] = []
    length = 0
    for note in notes:
        fitting = [pattern for pattern in patterns if globs.matches(note.path, pattern)]
        if not fitting:
            continue
        fields = values.to_map(note.frontmatter)
        batch.append((note.path, note.text, list(fields), list(fields.values()), fitting))
        length += len(note.text)
        if length > _BATCH_CHARS:
            yield batch
            batch, length = [], 0
    if batch:
        yield batch


def _select(name: str, kind: str) -> str:
    quoted = '"' + name.replace('"', '""') + '"'
    kind_to_read = values.find_cast(kind)
    return f"CAST({quoted} AS {kind_to_read}) AS {quoted}" if kind_to_read else quoted


def _convert(kind: str, value: object) -> object:
    return values.format_zoned(value) if kind == "TIMESTAMP WITH TIME ZONE" else values.to_json(value)
