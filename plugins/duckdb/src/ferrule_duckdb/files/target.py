"""The file that the rows and their answers go to: by one program at a time, whole or not at all."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from ferrule.errors import FerruleError
from ferrule.storage import locked
from ferrule_duckdb.files.source import quote, quote_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from duckdb import DuckDBPyConnection

_WRITERS = {
    ".csv": "FORMAT csv, HEADER",
    ".tsv": "FORMAT csv, HEADER, DELIMITER '\t'",
    ".parquet": "FORMAT parquet",
    **dict.fromkeys((".jsonl", ".ndjson"), "FORMAT json"),
    ".json": "FORMAT json, ARRAY true",
}
_FLAT = (".csv", ".tsv")


def is_flat(target: str) -> bool:
    """Whether a file's values are texts."""
    return Path(target).suffix.lower() in _FLAT


def require_writable(con: DuckDBPyConnection, target: str, columns: Mapping[str, str]) -> None:
    """Raise FerruleError where the file cannot be written, or cannot hold one of the columns, before anything is asked.

    Args:
        columns: the type of each, by its name.
    """
    writer = _writer(target)
    one: Mapping[str, str]
    for one in (columns, *({name: kind} for name, kind in columns.items())):
        values = ", ".join(f"NULL::{kind} AS {quote_name(name)}" for name, kind in one.items())
        try:
            _copy(con, f"(SELECT {values} LIMIT 0)", target, writer, is_trial=True)
            if one is columns:
                return
        except duckdb.Error as error:
            if len(one) == 1:
                raise _unfit(target, one, error) from None


@contextmanager
def reserved(target: str) -> Iterator[None]:
    """Keep other programs from working on the same file. Raises FerruleError where one does, or there is no folder."""
    path = Path(target).absolute()
    lock = path.with_name(f".{path.name}.lock")
    if not path.parent.is_dir():
        raise FerruleError(f"{target} cannot be written: there is no folder {path.parent}.", hint="Make it first.")
    try:
        with locked(str(lock), 0.0) as descriptor:
            # The one before may have removed the file in the meantime: then the lock is one of no file.
            if not lock.exists() or os.fstat(descriptor).st_ino != lock.stat().st_ino:
                raise TimeoutError
            try:
                yield
            finally:
                with suppress(OSError):
                    lock.unlink()
    except TimeoutError:
        hint = "Wait for it: it asks the same rows once. Or name another file with --out."
        raise FerruleError(f"Another `ferrule ask` is working on {target}.", hint=hint) from None
    except OSError as error:
        raise _unwritable(target, error) from None


def write(con: DuckDBPyConnection, table: str, target: str) -> None:
    """Write a table next to the file and put that in its place, so that there is never half a file."""
    _copy(con, table, target, _writer(target))


def _copy(con: DuckDBPyConnection, table: str, target: str, writer: str, *, is_trial: bool = False) -> None:
    half = Path(f"{target}.{os.getpid()}.part")
    try:
        con.execute(f"COPY {table} TO {quote(str(half.absolute()))} ({writer})").fetchall()
        if not is_trial:
            half.replace(target)
    except OSError as error:
        raise _unwritable(target, error) from None
    finally:
        half.unlink(missing_ok=True)


def _unwritable(target: str, error: OSError) -> FerruleError:
    return FerruleError(f"{target} cannot be written: {error.strerror}.")


def _unfit(target: str, column: Mapping[str, str], error: duckdb.Error) -> FerruleError:
    ((name, kind),) = column.items()
    sentence = f"{target} cannot hold the column `{name}`, which is {kind}: {str(error).splitlines()[0]}."
    return FerruleError(sentence, hint="Name another kind of file with --out, or cast the column to VARCHAR.")


def _writer(target: str) -> str:
    found = _WRITERS.get(Path(target).suffix.lower())
    if found is None:
        raise FerruleError(f"--out has to name a file that ends with {', '.join(_WRITERS)}, and not {target!r}.")
    return found
