"""The rows of a file, each asked a question, for `ferrule ask --rows`.

Good answers are kept on the disk, so the same command goes on where it was interrupted, and asks only what failed.
What failed for a reason that may pass is asked once more at the end.
"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple

import duckdb

from ferrule.errors import FerruleError
from ferrule_ask.client import AskOptions
from ferrule_duckdb.files.batches import answer_in_batches
from ferrule_duckdb.files.source import load_files, load_table, quote_name
from ferrule_duckdb.files.source import quote as _text
from ferrule_duckdb.files.target import is_flat, require_writable, reserved, write
from ferrule_duckdb.registration import register
from ferrule_duckdb.sql_types import cast_from_json, shape_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from duckdb import DuckDBPyConnection

    from ferrule_ask import Client

_KEPT = ("code", "error", "tool_outcome", "tool_code", "tool_error", "tool_calls", "sources", "cost")  # of an answer
_ADDED = ("answer", *_KEPT)
_EARLIER = {"answer", "code", "error", "tool_outcome", "cost"}  # of a file that has answers already
_QUESTION, _CONTEXT = "question", "context"
_MAY_PASS = ("NETWORK_ERROR", "TIMEOUT", "OVERLOADED", "RATE_LIMIT", "API_ERROR")
_UDF = "Python exception occurred while executing the UDF: "


class Rows(NamedTuple):
    """What is asked of which file. question: None where the file has a column `question`.

    context: the column with what a question is about; None for `context`, else all other columns, as JSON. type: of the
    answers, as `ask_ai` takes it. target: the file to write; None for a plan. is_pattern: whether the source is a
    pattern of files, each of which is a row.
    """

    source: str
    target: str | None
    question: str | None = None
    context: str | None = None
    type: str | None = None
    model: str | None = None
    max_tokens: int | None = None
    is_pattern: bool = False


class Names(NamedTuple):
    """Columns that stand next to those of the file while it is asked, as SQL quotes them. The file has none of them.

    number: of the row, from 1 on. answer: as `ask_ai` gives it. context, question: what batches were asked.
    """

    number: str
    answer: str
    context: str
    question: str


class Outcome(NamedTuple):
    """What came of the rows. failures: number of rows by code. empty: rows without question or context, not asked.

    requests, cost, unpriced, tool_failures: as in Usage, of this run alone.
    """

    rows: int
    answered: int
    empty: int
    failures: dict[str, int]
    requests: int
    cost: float
    unpriced: int
    tool_failures: int


INTERRUPTED = "Interrupted. What has been answered is kept: run the same command again to go on."


class RowsInterrupted(FerruleError):
    """Somebody has ended the work."""


def ask_rows(rows: Rows, client: Client) -> Outcome:
    """Ask, and write the file when all is answered. Raises FerruleError, and RowsInterrupted."""
    target = rows.target or ""
    with reserved(target), closing(duckdb.connect()) as con:
        columns, own = _load(con, rows)
        taken = {name.lower() for name in columns} & set(_ADDED)
        if taken:
            sentence = f"{rows.source} has a column `{min(taken)}` already, which the answers would get."
            raise FerruleError(sentence, hint="Rename it.")
        answer = "VARCHAR" if rows.type is None else shape_of(rows.type).sql or "JSON"
        require_writable(con, target, {**columns, "answer": answer})
        if client.batches is None:
            register(con, client=client)
        fields = _fields(rows, columns, own)
        call = _call("ask_ai", rows, columns)
        if client.batches is None:
            _ask(con, "first", fields, f"{call} AS {own.answer}", own, "true")
            _ask_again(con, fields, f"{call} AS {own.answer}", own)
        else:
            _ask_in_batches(con, fields, rows, columns, own, client)
        n = own.number
        both = f"SELECT * FROM first WHERE {n} NOT IN (SELECT {n} FROM again) UNION ALL FROM again ORDER BY {n}"  # noqa: S608 - nothing of a user
        _run(con, f"CREATE TEMP TABLE answered AS SELECT * EXCLUDE ({n}) FROM ({both})")  # noqa: S608 - nothing of a user
        outcome = _outcome(con, client)
        write(con, "answered", target)
        if client.batches is not None:
            client.batches.close()
    return outcome


def _fields(rows: Rows, columns: Mapping[str, str], own: Names) -> str:
    """What is written of a row: its columns, and what is kept of its answer."""
    kept = {"answer": f"{own.answer}.text" if rows.type is None else _value(rows.type, own)}
    kept |= {name: f"{own.answer}.{name}" for name in _KEPT}
    if is_flat(rows.target or ""):
        has_parts = rows.type is not None and shape_of(rows.type).has_parts
        kept |= {name: f"to_json({kept[name]})" for name in ("sources", *(["answer"] if has_parts else []))}
    return ", ".join([*map(quote_name, columns), *(f"{value} AS {name}" for name, value in kept.items())])


def _ask(con: DuckDBPyConnection, table: str, fields: str, asked: str, own: Names, which: str) -> None:
    """Ask some rows of the table `source`, whose answers become another one, with the number of each row."""
    answers = f"SELECT *, {asked} FROM source WHERE {which}"  # noqa: S608 - names and texts are quoted
    _run(con, f"CREATE TEMP TABLE {table} AS SELECT {own.number}, {fields} FROM ({answers})")  # noqa: S608 - the user's own statement


def _ask_again(con: DuckDBPyConnection, fields: str, asked: str, own: Names) -> None:
    """Ask once more what has failed for a reason that may have passed, into the table `again`."""
    codes = ", ".join(map(_text, _MAY_PASS))
    failed = f"SELECT {own.number} FROM first WHERE code IN ({codes})"  # noqa: S608 - nothing of a user
    try:
        _ask(con, "again", fields, asked, own, f"{own.number} IN ({failed})")
    except RowsInterrupted:
        raise
    except FerruleError:  # it has not passed: what is answered is written all the same
        _run(con, "CREATE TEMP TABLE again AS FROM first LIMIT 0")


def _ask_in_batches(
    con: DuckDBPyConnection, fields: str, rows: Rows, columns: Mapping[str, str], own: Names, client: Client
) -> None:
    """Ask all rows in batches, into the table `first`; what has failed is for the next run."""
    context, question = f"({_context(rows, columns)})::VARCHAR", f"({_question(rows)})::VARCHAR"
    options = AskOptions(model=rows.model, max_tokens=rows.max_tokens)
    try:
        answer_in_batches(con, client, context, question, options, rows.type)
    except KeyboardInterrupt:
        raise RowsInterrupted(INTERRUPTED) from None
    # Under names that the file does not have: its own columns may be called so.
    answers = f"SELECT c AS {own.context}, q AS {own.question}, a AS {own.answer} FROM batch_answers"  # noqa: S608 - nothing of a user
    is_its_answer = f"{own.context} = {context} AND {own.question} = {question}"
    asked = f"SELECT * FROM source LEFT JOIN ({answers}) ON {is_its_answer}"  # noqa: S608 - the user's own statement
    _run(con, f"CREATE TEMP TABLE first AS SELECT {own.number}, {fields} FROM ({asked})")  # noqa: S608 - the user's own statement
    _run(con, "CREATE TEMP TABLE again AS FROM first LIMIT 0")


def plan_rows(rows: Rows, client: Client) -> dict[str, object]:
    """What the rows would take together, as `ask_plan` has it; costs are None where a price is not known."""
    sums = "requests_max", "input_tokens", "output_tokens_max", "searches_max"
    costs = "cost_min", "cost_likely", "cost_max", "search_cost_max"
    parts = [f"coalesce(sum(p.{name}), 0)::BIGINT AS {name}" for name in sums]
    parts += [f"CASE WHEN count(p) = count(p.{name}) THEN coalesce(sum(p.{name}), 0) END AS {name}" for name in costs]
    with closing(duckdb.connect()) as con:
        columns, _ = _load(con, rows)
        register(con, client=client)
        call = _call("ask_plan", rows, columns)
        inner = f"(SELECT {call} AS p FROM source)"  # noqa: S608 - the user's own statement
        _run(con, f"CREATE TEMP TABLE plan AS SELECT count(*) AS rows, {', '.join(parts)} FROM {inner}")  # noqa: S608 - the user's own statement
        found = con.execute("FROM plan")
        return dict(zip((one[0] for one in found.description or ()), found.fetchall()[0], strict=True))


def _load(con: DuckDBPyConnection, rows: Rows) -> tuple[dict[str, str], Names]:
    """Read the file into the table `source`, with the number of each row: the types of its columns, by their names."""
    if rows.type is not None:
        shape_of(rows.type)
    (load_files if rows.is_pattern else load_table)(con, rows.source)
    columns = {str(name): str(kind) for name, kind, *_ in con.execute("DESCRIBE source").fetchall()}
    own = _free_names(columns)
    # `rowid` would be a column of the file, where it has one.
    con.execute(f"CREATE OR REPLACE TEMP TABLE source AS SELECT *, row_number() OVER () AS {own.number} FROM source")  # noqa: S608 - nothing of a user
    if {name.lower() for name in columns} >= _EARLIER:  # answers of an earlier run, which are given anew
        columns = {name: kind for name, kind in columns.items() if name.lower() not in _ADDED}
    if rows.question is None and _QUESTION not in columns:
        raise FerruleError(f"{rows.source} has no column `{_QUESTION}`.", hint="Give the QUESTION as an argument.")
    if rows.context is not None and rows.context not in columns:
        raise FerruleError(f"{rows.source} has no column `{rows.context}`, only: {', '.join(columns)}.")
    _refuse_bytes(rows, columns)
    return columns, own


def _free_names(columns: Mapping[str, str]) -> Names:
    taken = {name.lower() for name in columns}
    free = []
    for field in Names._fields:
        name = f"ferrule {field}"
        while name in taken:
            name += "_"
        free.append(quote_name(name))
    return Names(*free)


def _refuse_bytes(rows: Rows, columns: Mapping[str, str]) -> None:
    """Raise FerruleError for a column of bytes that would be asked about."""
    for name in _list_asked_columns(rows, columns):
        if columns[name].startswith("BLOB"):
            sentence = f"The column `{name}` of {rows.source} is {columns[name]}, which no model can read."
            raise FerruleError(sentence, hint="Leave it out with --context-column, or write it as text into the file.")


def _call(function: str, rows: Rows, columns: Mapping[str, str]) -> str:
    model, most = "NULL" if rows.model is None else _text(rows.model), rows.max_tokens or "NULL"
    shape = "NULL" if rows.type is None else _text(rows.type)
    return f'{function}({_context(rows, columns)}, {_question(rows)}, {model}, {most}, "type" := {shape})'


def _question(rows: Rows) -> str:
    question = quote_name(_QUESTION) if rows.question is None else _text(rows.question)
    return f"nullif(trim({question}), '')"


def _list_asked_columns(rows: Rows, columns: Mapping[str, str]) -> list[str]:
    """The columns that a row's question is about."""
    if rows.context is not None or _CONTEXT in columns:
        return [rows.context or _CONTEXT]
    return [name for name in columns if name != _QUESTION or rows.question is not None]


def _context(rows: Rows, columns: Mapping[str, str]) -> str:
    if rows.context is not None:
        return quote_name(rows.context)
    if _CONTEXT in columns:
        return f"coalesce({quote_name(_CONTEXT)}::VARCHAR, '')"
    others = _list_asked_columns(rows, columns)
    if not others:
        return "''"
    return f"json_object({', '.join(f'{_text(name)}, {quote_name(name)}' for name in others)})::VARCHAR"


def _value(kind: str, own: Names) -> str:
    sql, value = shape_of(kind).sql, f"{own.answer}.value"
    return value if sql is None else cast_from_json(value, sql)


def _outcome(con: DuckDBPyConnection, client: Client) -> Outcome:
    number = "SELECT count(*), count(*) FILTER (code IS NULL AND tool_outcome IS NOT NULL), "
    number += "count(*) FILTER (tool_outcome IS NULL) FROM answered"
    ((rows, answered, empty),) = con.execute(number).fetchall()
    codes = con.execute("SELECT code, count(*) FROM answered WHERE code IS NOT NULL GROUP BY code ORDER BY code")
    used = client.usage
    failures = dict(codes.fetchall())
    return Outcome(rows, answered, empty, failures, used.requests, used.cost, used.unpriced, used.tool_failures)


def _run(con: DuckDBPyConnection, sql: str) -> None:
    try:
        con.execute(sql).fetchall()
    except (KeyboardInterrupt, duckdb.InterruptException):
        raise RowsInterrupted(INTERRUPTED) from None
    except duckdb.Error as error:
        said = str(error).splitlines()[0]
        raise FerruleError(said.partition(_UDF)[2].partition(": ")[2] or said) from None
    except RuntimeError as error:
        if "interrupted" in str(error).lower():  # what DuckDB makes of Ctrl-C where its main thread waits
            raise RowsInterrupted(INTERRUPTED) from None
        raise
