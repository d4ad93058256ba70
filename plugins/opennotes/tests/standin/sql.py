"""The DuckDB in opennotes, with which it answers views. The tools hand it no SQL, so `--sql` is left out."""

import datetime
import json
import math
import re
import threading

from standin.generation import Failure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

READ = re.compile(r"""read_markdown\s*\(\s*(['"])(.*?)(['"])""")
OFFLINE = (
    "database error: failed to install markdown extension on read-only connection: IO Error: Failed to download "
    'extension "markdown" at URL "http://community-extensions.duckdb.org/v1.4.3/linux_amd64/'
    'markdown.duckdb_extension.gz" (ERROR Could not establish connection)'
)
LINES = """
CREATE MACRO fm_lines(c) AS list_filter(
    CASE WHEN starts_with(c, '---' || chr(10)) AND position(chr(10) || '---' IN c[4:]) > 0
    THEN string_split(c[5:position(chr(10) || '---' IN c[4:]) + 2], chr(10)) ELSE [] END,
    lambda l: position(':' IN l) > 0);
CREATE MACRO fm_pairs(c) AS list_transform(fm_lines(c), lambda l: struct_pack(
    k := trim(split_part(l, ':', 1)), v := trim(trim(l[position(':' IN l) + 1:]), '"')));
CREATE MACRO fm_first(p) AS list_filter(
    p, lambda e, i: list_position(list_transform(p, lambda o: o.k), e.k) = i);
CREATE MACRO read_markdown(g, include_filepath := false, filename := false) AS TABLE
    SELECT {columns} map_from_entries(fm_first(fm_pairs(f.content))) AS metadata
    FROM read_text(g) AS f ORDER BY f.filename;
"""


def queried(statement: str, values: "Sequence[str]", seconds: float) -> "list[dict[str, Any]]":
    import duckdb

    connection = duckdb.connect()
    has_path = re.search(r"\b(include_filepath|filename)\s*:?=", statement) is not None
    selected = "f.filename AS file_path, f.content," if has_path else "f.content,"
    connection.execute(LINES.format(columns=selected))
    _refuse_empty(statement, connection)
    timer = threading.Timer(seconds, connection.interrupt)
    timer.start()
    try:
        done = connection.execute(statement, list(values))
        columns = [(column[0], str(column[1]) == "HUGEINT") for column in done.description or []]
        return [_row(columns, row) for row in done.fetchall()]
    except duckdb.InterruptException as error:
        raise Failure(f"query execution failed: context deadline exceeded\n{error}") from None
    except duckdb.Error as error:
        raise Failure(f"query execution failed: {error}") from None
    finally:
        timer.cancel()


def _refuse_empty(statement: str, connection: "Any") -> None:
    for found in READ.finditer(statement):
        if not connection.execute("SELECT count(*) FROM glob(?)", [found[2]]).fetchone()[0]:
            problem = f"Invalid Input Error: File or directory does not exist: {found[2]}"
            raise Failure(f"query execution failed: {problem}")


def _row(columns: list[tuple[str, bool]], values: "Sequence[Any]") -> "dict[str, Any]":
    # What SUM gives is a HUGEINT, which the CLI writes as an object without fields.
    return {
        name: {} if is_huge and value is not None else value
        for (name, is_huge), value in zip(columns, values, strict=True)
    }


def as_json(rows: "list[dict[str, Any]]") -> str:
    """Indented, with sorted keys and no newline at the end."""
    return json.dumps([{name: _value(row[name]) for name in sorted(row)} for row in rows], indent=2, ensure_ascii=False)


def _value(value: "Any") -> "Any":
    if isinstance(value, dict):
        return {str(name): _value(item) for name, item in sorted(value.items())}
    if isinstance(value, list | tuple):
        return [_value(item) for item in value]
    if isinstance(value, datetime.datetime | datetime.date):
        text = value.isoformat()
        return text + "Z" if "T" in text else text + "T00:00:00Z"
    if isinstance(value, float) and not math.isfinite(value):
        raise Failure(f"failed to marshal JSON: json: unsupported value: {value}")
    return value if isinstance(value, str | int | float | bool | None) else str(value)
