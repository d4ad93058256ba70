"""The files whose rows are asked: how each kind is read, and what is wrong with one, by its line."""

from __future__ import annotations

import csv
import glob
import gzip
import io
import re
import shutil
import sys
import tempfile
from contextlib import contextmanager
from datetime import date, datetime, time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import duckdb
import pyarrow as pa

from ferrule.errors import FerruleError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from duckdb import DuckDBPyConnection

STDIN = "-"
_CSV, _TSV, _PARQUET, _XLSX = ".csv", ".tsv", ".parquet", ".xlsx"
_JSON = (".jsonl", ".ndjson", ".json")
_TEXTS = (_CSV, _TSV, *_JSON)
KINDS = (*_TEXTS, _PARQUET, _XLSX)
_COMPRESSED = (".gz", ".zst")
_DELIMITERS = ",;\t|"
_MAX_HEADER_CHARS = 1 << 20
_COUNTS = re.compile(r"CSV Error on Line: (\d+).*?Expected Number of Columns: (\d+) Found: (\d+)", re.DOTALL)
_PLACE = re.compile(r"CSV Error on Line: (\d+)")
_MAX_FILE_BYTES = 32 << 20  # of a file that is a row: more than a model takes


class Dialect(NamedTuple):
    """How a CSV file is written: its columns, what stands between them, and between lines."""

    columns: tuple[str, ...]
    delimiter: str
    end: str


def load_table(con: DuckDBPyConnection, source: str) -> None:
    """Read a file, or stdin for "-", into the table `source`. Raises FerruleError."""
    with _on_disk(source) as path:
        kind, is_compressed = kind_of(path, source)
        if kind in _TEXTS:
            _require_text(path, source)
        if kind == _XLSX:
            _load_arrow(con, _read_sheet(path, source))
            return
        reader = f"read_parquet({quote(str(path))})"
        if kind in _JSON:
            reader = f"read_json_auto({quote(str(path))})"
        elif kind != _PARQUET:
            reader = _csv_reader(path, source, "\t" if kind == _TSV else "")
        if is_compressed and kind == _PARQUET:
            raise FerruleError(f"{source} is a compressed Parquet file.", hint="Unpack it first.")
        try:
            con.execute(f"CREATE TEMP TABLE source AS FROM {reader}")
        except duckdb.Error as error:
            raise _explain(error, source) from None


def load_files(con: DuckDBPyConnection, pattern: str) -> None:
    """Read each file that fits a pattern as a row of the table `source`: `name` and `text`. Raises FerruleError."""
    names = sorted(one for one in glob.glob(pattern, recursive=True) if Path(one).is_file())  # noqa: PTH207 - of any folder
    if not names:
        raise FerruleError(f"No file fits {pattern!r}.", hint="Put the pattern in quotes: --files 'notes/**/*.md'")
    _load_arrow(con, pa.table({"name": names, "text": [_read_text(name) for name in names]}))


def kind_of(path: Path, source: str) -> tuple[str, bool]:
    """The ending that says of what kind a file is, and whether it is compressed. Raises FerruleError."""
    endings = [ending.lower() for ending in path.suffixes[-2:]]
    is_compressed = bool(endings) and endings[-1] in _COMPRESSED
    kind = (endings[:-1] if is_compressed else endings)[-1:]
    if not kind or kind[0] not in KINDS:
        kinds = ", ".join(KINDS)
        raise FerruleError(f"--rows has to name a file that ends with {kinds} (and .gz or .zst), and not {source!r}.")
    return kind[0], is_compressed


def quote(value: str) -> str:
    """A text of SQL."""
    return "'" + value.replace("'", "''") + "'"


def quote_name(column: str) -> str:
    """The name of a column in SQL."""
    return '"' + column.replace('"', '""') + '"'


@contextmanager
def _on_disk(source: str) -> Iterator[Path]:
    """The file; stdin as one, whose ending says what it seems to be."""
    if source != STDIN:
        path = Path(source).absolute()
        if not path.is_file():
            raise FerruleError(f"There is no file {source}.")
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="ferrule-rows-") as folder:
        path = Path(folder) / "stdin"
        with path.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        yield path.rename(path.with_suffix(_guess_kind(path)))


def _guess_kind(path: Path) -> str:
    with path.open("rb") as file:
        head = file.read(512)
    if head.startswith(b"PAR1"):
        return _PARQUET
    if head.startswith(b"PK"):
        return _XLSX
    return _JSON[0] if head.lstrip(b"\xef\xbb\xbf \r\n\t").startswith((b"{", b"[")) else _CSV


def _require_text(path: Path, source: str) -> None:
    """Raise FerruleError where a file is no text in UTF-8, with the line of it."""
    try:
        with _unpack(path) as file:
            for number, line in enumerate(file, 1):
                if number == 1 and line.startswith((b"\xff\xfe", b"\xfe\xff")):
                    raise _no_text(source, number, "is in UTF-16", "UTF-16")
                if b"\0" in line:
                    raise _no_text(source, number, "has a NUL byte", "UTF-16")
                if not line.isascii():
                    line.decode()
    except UnicodeDecodeError:
        raise _no_text(source, number, "is not text in UTF-8", "ISO-8859-1") from None
    except (OSError, EOFError) as error:
        raise FerruleError(f"{source} cannot be read: {error}.") from None


def _unpack(path: Path) -> io.BufferedIOBase:
    """The bytes of a file, out of what it is compressed with."""
    ending = path.suffix.lower()
    if ending == ".zst":
        return io.BufferedReader(pa.input_stream(str(path), compression="zstd"))
    return gzip.GzipFile(path, "rb") if ending == ".gz" else path.open("rb")


def _no_text(source: str, line: int, what: str, encoding: str) -> FerruleError:
    hint = f"If it is in {encoding}, convert it: iconv -f {encoding} -t UTF-8 {source} > converted.csv"
    return FerruleError(f"Line {line:,} of {source} {what}.", hint=hint)


def _csv_reader(path: Path, source: str, delimiter: str) -> str:
    """The call that reads exactly the columns of the header: a line with others is an error, and no other dialect."""
    dialect = _find_dialect(path, source, delimiter)
    columns = ", ".join(f"{quote(name)}: 'VARCHAR'" for name in dialect.columns)
    options = f"columns = {{{columns}}}, delim = {quote(dialect.delimiter)}, new_line = {quote(dialect.end)}"
    fixed = "auto_detect = false, header = true, quote = '\"', escape = '\"'"
    return f"read_csv({quote(str(path))}, {options}, {fixed})"


def _find_dialect(path: Path, source: str, delimiter: str) -> Dialect:
    """The dialect that the first line has: of the usual delimiters the one that stands there most often."""
    with _unpack(path) as file:
        head = file.read(_MAX_HEADER_CHARS).decode("utf-8-sig", "ignore")
    if not head.strip():
        raise FerruleError(f"{source} is empty.")
    first = head.splitlines()[0]
    end = "\\r\\n" if head[len(first) :].startswith("\r\n") else "\\n"
    records = {one: next(csv.reader(io.StringIO(head), delimiter=one), []) for one in delimiter or _DELIMITERS}
    best = max(records, key=lambda one: len(records[one]))
    return Dialect(tuple(_name_columns(records[best])), best, end)


def _name_columns(header: Sequence[str]) -> Iterator[str]:
    """The names of columns, each once and none of them empty. DuckDB knows no letter case."""
    seen: set[str] = set()
    for number, text in enumerate(header):
        name = base = text or f"column{number}"
        times = 1
        while name.lower() in seen:
            name, times = f"{base}_{times}", times + 1
        seen.add(name.lower())
        yield name


def _explain(error: duckdb.Error, source: str) -> FerruleError:
    """What is wrong with a file, by its line."""
    said = str(error)
    if found := _COUNTS.search(said):
        line, wanted, there = map(int, found.groups())
        sentence = f"Line {line:,} of {source} has {there} columns, and the header has {wanted}."
        return FerruleError(sentence, hint="A value that holds the delimiter stands in double quotes.")
    if found := _PLACE.search(said):
        reason = next((one for one in said.splitlines()[1:] if one and not one.startswith("Original Line")), "")
        return FerruleError(f"Line {int(found[1]):,} of {source} cannot be read. {reason}".strip())
    return FerruleError(f"{source} cannot be read: {said.splitlines()[0]}")


def _read_sheet(path: Path, source: str) -> pa.Table:
    """The first sheet of a workbook, all values as texts. Its first row has the names."""
    from python_calamine import CalamineError, CalamineWorkbook

    try:
        rows = CalamineWorkbook.from_path(str(path)).get_sheet_by_index(0).to_python()
    except CalamineError as error:
        raise FerruleError(f"{source} is no workbook that can be read: {error}.") from None
    if not rows:
        raise FerruleError(f"The first sheet of {source} is empty.")
    names = list(_name_columns([_cell(value) or "" for value in rows[0]]))
    values = [[_cell(value) for value in column] for column in zip(*rows[1:], strict=True)] or [[] for _ in names]
    return pa.table({name: pa.array(column, pa.string()) for name, column in zip(names, values, strict=True)})


def _cell(value: object) -> str | None:
    """A value as it is seen: whole numbers without a fraction, dates as ISO has them; None for an empty cell."""
    if value is None or value == "":
        return None
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value.isoformat() if isinstance(value, date | datetime | time) else str(value)


def _load_arrow(con: DuckDBPyConnection, table: pa.Table) -> None:
    con.register("read_rows", table)
    con.execute("CREATE TEMP TABLE source AS FROM read_rows")
    con.unregister("read_rows")


def _read_text(name: str) -> str:
    try:
        with Path(name).open("rb") as file:
            data = file.read(_MAX_FILE_BYTES + 1)
        if len(data) > _MAX_FILE_BYTES:
            raise FerruleError(f"{name} is larger than 32 MiB, which no model takes.")
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        hint = "Choose a pattern that text files alone fit."
        raise FerruleError(f"{name} is not text in UTF-8.", hint=hint) from None
    except OSError as error:
        raise FerruleError(f"{name} cannot be read: {error.strerror}.") from None
