"""The rows of a file, each asked a question, for `ferrule ask --rows`: CSV, Parquet and JSON lines, read by DuckDB.

Good answers are kept on the disk, so the same command goes on where it was interrupted, and asks only what failed.
"""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import duckdb

from ferrule.errors import FerruleError
from ferrule_duckdb.registration import register
from ferrule_duckdb.sql_types import cast_from_json, shape_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from duckdb import DuckDBPyConnection

    from ferrule_ask import Client

_READERS = {
    ".csv": "read_csv({}, all_varchar = true, header = true)",  # values stay as they are written
    ".tsv": "read_csv({}, all_varchar = true, header = true, delim = '\t')",
    ".parquet": "read_parquet({})",
    **dict.fromkeys((".jsonl", ".ndjson", ".json"), "read_json_auto({})"),
}
_WRITERS = {
    ".csv": "FORMAT csv, HEADER",
    ".tsv": "FORMAT csv, HEADER, DELIMITER '\t'",
    ".parquet": "FORMAT parquet",
    **dict.fromkeys((".jsonl", ".ndjson"), "FORMAT json"),
    ".json": "FORMAT json, ARRAY true",
}
_KEPT = ("code", "error", "tool_outcome", "tool_code", "tool_error", "tool_calls", "sources", "cost")  # of an answer
_ADDED = ("answer", *_KEPT)
_FLAT = (".csv", ".tsv")  # files whose values are texts
_QUESTION, _CONTEXT = "question", "context"
_UDF = "Python exception occurred while executing the UDF: "


class Rows(NamedTuple):
    """What is asked of which file. question: None where the file has a column `question`.

    context: the column with what a question is about; None for `context`, else all other columns, as JSON. type: of the
    answers, as `ask_ai` takes it. target: the file to write; None for a plan.
    """

    source: str
    target: str | None
    question: str | None = None
    context: str | None = None
    type: str | None = None
    model: str | None = None
    max_tokens: int | None = None


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
    writer = _format(rows.target or "", _WRITERS, "--out")
    with closing(duckdb.connect()) as con:
        columns = _load(con, rows)
        taken = {name.lower() for name in columns} & set(_ADDED)
        if taken:
            sentence = f"{rows.source} has a column `{min(taken)}` already, which the answers would get."
            raise FerruleError(sentence, hint="Rename it.")
        register(con, client=client)
        cast = "a.text" if rows.type is None else _value(rows.type)
        is_flat = Path(rows.target or "").suffix.lower() in _FLAT
        kept = ["to_json(a.sources)" if is_flat and name == "sources" else f"a.{name}" for name in _KEPT]
        fields = ", ".join([f"{cast} AS answer", *(f"{one} AS {name}" for one, name in zip(kept, _KEPT, strict=True))])
        names = "".join(f"{_name(name)}, " for name in columns)
        asked = f"SELECT *, {_call('ask_ai', rows, columns)} AS a FROM source"  # noqa: S608 - names and texts are quoted
        _run(con, f"CREATE TEMP TABLE answered AS SELECT {names}{fields} FROM ({asked})")  # noqa: S608 - the user's own statement
        outcome = _outcome(con, client)
        _write(con, rows.target or "", writer)
    return outcome


def plan_rows(rows: Rows, client: Client) -> dict[str, object]:
    """What the rows would take together, as `ask_plan` has it; costs are None where a price is not known."""
    sums = "requests_max", "input_tokens", "output_tokens_max", "searches_max"
    costs = "cost_min", "cost_likely", "cost_max", "search_cost_max"
    parts = [f"coalesce(sum(p.{name}), 0)::BIGINT AS {name}" for name in sums]
    parts += [f"CASE WHEN count(p) = count(p.{name}) THEN coalesce(sum(p.{name}), 0) END AS {name}" for name in costs]
    with closing(duckdb.connect()) as con:
        columns = _load(con, rows)
        register(con, client=client)
        call = _call("ask_plan", rows, columns)
        inner = f"(SELECT {call} AS p FROM source)"  # noqa: S608 - the user's own statement
        _run(con, f"CREATE TEMP TABLE plan AS SELECT count(*) AS rows, {', '.join(parts)} FROM {inner}")  # noqa: S608 - the user's own statement
        found = con.execute("FROM plan")
        return dict(zip((one[0] for one in found.description or ()), found.fetchall()[0], strict=True))


def _load(con: DuckDBPyConnection, rows: Rows) -> list[str]:
    """Read the file into the table `source`: the names of its columns."""
    reader = _format(rows.source, _READERS, "--rows")
    if not Path(rows.source).is_file():
        raise FerruleError(f"There is no file {rows.source}.")
    if rows.type is not None:
        shape_of(rows.type)
    _run(con, f"CREATE TEMP TABLE source AS FROM {reader.format(_text(str(Path(rows.source).absolute())))}")
    columns = [str(row[0]) for row in con.execute("DESCRIBE source").fetchall()]
    if rows.question is None and _QUESTION not in columns:
        raise FerruleError(f"{rows.source} has no column `{_QUESTION}`.", hint="Give the QUESTION as an argument.")
    if rows.context is not None and rows.context not in columns:
        raise FerruleError(f"{rows.source} has no column `{rows.context}`, only: {', '.join(columns)}.")
    return columns


def _call(function: str, rows: Rows, columns: Sequence[str]) -> str:
    question = _name(_QUESTION) if rows.question is None else _text(rows.question)
    model, most = "NULL" if rows.model is None else _text(rows.model), rows.max_tokens or "NULL"
    shape = "NULL" if rows.type is None else _text(rows.type)
    return f"{function}({_context(rows, columns)}, nullif(trim({question}), ''), {model}, {most}, \"type\" := {shape})"


def _context(rows: Rows, columns: Sequence[str]) -> str:
    if rows.context is not None:
        return _name(rows.context)
    if _CONTEXT in columns:
        return f"coalesce({_name(_CONTEXT)}::VARCHAR, '')"
    others = [name for name in columns if name != _QUESTION or rows.question is not None]
    if not others:
        return "''"
    return f"json_object({', '.join(f'{_text(name)}, {_name(name)}' for name in others)})::VARCHAR"


def _value(kind: str) -> str:
    sql = shape_of(kind).sql
    return "a.value" if sql is None else cast_from_json("a.value", sql)


def _outcome(con: DuckDBPyConnection, client: Client) -> Outcome:
    number = "SELECT count(*), count(*) FILTER (code IS NULL AND tool_outcome IS NOT NULL), "
    number += "count(*) FILTER (tool_outcome IS NULL) FROM answered"
    ((rows, answered, empty),) = con.execute(number).fetchall()
    codes = con.execute("SELECT code, count(*) FROM answered WHERE code IS NOT NULL GROUP BY code ORDER BY code")
    used = client.usage
    failures = dict(codes.fetchall())
    return Outcome(rows, answered, empty, failures, used.requests, used.cost, used.unpriced, used.tool_failures)


def _write(con: DuckDBPyConnection, target: str, writer: str) -> None:
    """Write beside the file and put that in its place, so that there is never half a file."""
    half = Path(f"{target}.{os.getpid()}.part")
    try:
        _run(con, f"COPY answered TO {_text(str(half.absolute()))} ({writer})")
        half.replace(target)
    except OSError as error:
        raise FerruleError(f"{target} cannot be written: {error.strerror}.") from None
    finally:
        half.unlink(missing_ok=True)


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


def _format(path: str, formats: dict[str, str], option: str) -> str:
    found = formats.get(Path(path).suffix.lower())
    if found is None:
        raise FerruleError(f"{option} has to name a file that ends with {', '.join(formats)}, and not {path!r}.")
    return found


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _name(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'
