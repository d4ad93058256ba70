"""What DuckDB says when it fails, as errors of the tool."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ferrule_opennotes.errors import invalid_sql, query_too_large

if TYPE_CHECKING:
    from ferrule import ToolError

_MAX_CHARS = 1_500
_LINE = re.compile(r"^LINE (\d+):", re.MULTILINE)
_ADVICE = re.compile(r"\n(?:Database is launched|Unused blocks|\* ).*", re.DOTALL)
_SETTING = re.compile(r'\s*Use "SET [^"\n]*"[^\n]*')  # which cannot be set here
_INTERNALS = re.compile(r"\b(?:memory\.)?ferrule\.(?:answer|notes|body|prose)\b")
_IS_FULL = re.compile(r"bad_alloc|[Aa]llocation failure|can't start new thread|std::system_error")
_NO_COLUMN = re.compile(r'Referenced column "(\w+)" (?:was )?not found')
_COLUMNS = (
    "read_markdown has the columns file_path, content and metadata; a field of the frontmatter is metadata['{0}'], "
    "and text stands in single quotes."
)


def translate(error: BaseException, memory: int, lines_before: int = 0) -> ToolError:
    """The INVALID_SQL for an exception of DuckDB, or QUERY_TIMEOUT for a lack of memory.

    memory: MiB that it had. lines_before: lines in front of the statement that the user did not write.
    """
    import duckdb

    text = str(error)
    if isinstance(error, MemoryError | duckdb.OutOfMemoryException) or _IS_FULL.search(text):
        return query_too_large(memory)
    if "unnamed struct" in text:
        return invalid_sql("a column is a row without names; name its parts, like {'title': a, 'path': b}")
    if isinstance(error, duckdb.InternalException | duckdb.FatalException):
        return invalid_sql("DuckDB failed on it with an internal error; write it another way")
    said = _clean(text, lines_before)
    unknown = _NO_COLUMN.search(text)
    return invalid_sql(said, _COLUMNS.format(unknown[1])) if unknown else invalid_sql(said)


def _clean(text: str, lines_before: int) -> str:
    text = _SETTING.sub("", _ADVICE.sub("", text)).replace("\n\nLINE", "\nLINE").strip()
    text = _LINE.sub(lambda found: f"LINE {max(1, int(found[1]) - lines_before)}:", text)
    text = _INTERNALS.sub("read_markdown", text)
    return text if len(text) <= _MAX_CHARS else text[: _MAX_CHARS - 1] + "…"
