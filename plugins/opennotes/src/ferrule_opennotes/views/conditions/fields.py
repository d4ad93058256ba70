"""Expressions that a definition may name: fields of notes, and casts of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from operator import attrgetter
from typing import TYPE_CHECKING, Literal, NamedTuple

from ferrule_opennotes.notebook import dates
from ferrule_opennotes.views.definitions import DefinitionError
from ferrule_opennotes.views.table import Read, format_value

if TYPE_CHECKING:
    from ferrule_opennotes.views.table import NotesTable

Type = Literal["text", "number", "date", "bool"]

_METADATA = re.compile(r"metadata\s*(?:->>?\s*(?:'([^']+)'|\"([^\"]+)\")|\[\s*'([^']+)'\s*\])", re.IGNORECASE)
_CAST = re.compile(r"(?:TRY_)?CAST\s*\((.+)\s+AS\s+([A-Za-z]+)(?:\([\d, ]*\))?\s*\)", re.IGNORECASE | re.DOTALL)
_POSTFIX = re.compile(r"(.+)::\s*([A-Za-z]+)(?:\([\d, ]*\))?", re.DOTALL)
_MAX_CHARS = 500  # characters of an expression

_WHOLE = ("INTEGER", "INT", "BIGINT", "SMALLINT", "TINYINT", "HUGEINT", "UBIGINT", "UINTEGER")
_TYPES: dict[str, Type] = {
    **dict.fromkeys((*_WHOLE, "DOUBLE", "FLOAT", "REAL", "DECIMAL", "NUMERIC"), "number"),
    **dict.fromkeys(("VARCHAR", "TEXT", "STRING", "CHAR"), "text"),
    **dict.fromkeys(("DATE", "TIMESTAMP", "TIMESTAMPTZ", "DATETIME"), "date"),
    **dict.fromkeys(("BOOLEAN", "BOOL"), "bool"),
}
_FROM_TEXT = {
    "text": "{0}",
    "number": "number({0})",
    "date": "seconds({0})",
    "bool": "CASE fold({0}) WHEN 'true' THEN 1 WHEN '1' THEN 1 WHEN 'false' THEN 0 WHEN '0' THEN 0 END",
}
_TO_TEXT = {
    "text": "{0}",
    "number": "CAST({0} AS TEXT)",
    "date": "iso({0})",
    "bool": "CASE {0} WHEN 1 THEN 'true' WHEN 0 THEN 'false' END",
}
_DATED: dict[str, Read] = {
    "created_at": lambda note: dates.to_seconds(note.created),
    "updated_at": attrgetter("modified_at"),
}
_COLUMNS: dict[str, Read] = {
    "path": attrgetter("path"),
    "file_path": attrgetter("absolute"),
    "title": attrgetter("name"),
    "content": attrgetter("text"),
    "body": attrgetter("body"),
}


class Expression(NamedTuple):
    """What can be compared, ordered and grouped by.

    write: its SQL. field: of the frontmatter, if it is one; as long as it is not cast, each item of a list counts.
    """

    type: Type
    write: Callable[[NotesTable], str]
    field: str | None = None
    is_cast: bool = False

    def write_text(self, table: NotesTable) -> str:
        """The SQL of its value as text."""
        return self.to_text(self.write(table))

    def to_text(self, sql: str) -> str:
        """The SQL of a value of its type as text."""
        return _TO_TEXT[self.type].format(sql)

    def write_test(self, table: NotesTable, make_test: Callable[[str], str]) -> str:
        """The SQL of whether a test holds for its value, or for an item where that is a list."""
        name = self.field
        if name is None or self.is_cast or self.type != "text":
            return make_test(self.write(table))
        return table.write_item_test(name, lambda note: note.frontmatter.get(name), make_test)


def parse(text: object) -> Expression:
    """The expression that a text stands for. Raises DefinitionError."""
    if not isinstance(text, str) or not text.strip() or len(text) > _MAX_CHARS:
        raise DefinitionError(f"{str(text)[:100]!r} is no field")
    text = text.strip()
    if cast := _POSTFIX.fullmatch(text) or _CAST.fullmatch(text):
        return _cast(parse(cast[1]), cast[2].upper())
    return parse(text[1:-1]) if text.startswith("(") and text.endswith(")") else _field(text)


def _field(text: str) -> Expression:
    if found := _METADATA.fullmatch(text):
        key = found[1] or found[2] or found[3]
        # What the CLI's own views order by, and what no note has that it writes itself.
        if key in _DATED:
            return _column(key, "date", _DATED[key])._replace(field=key)
        return _column(f"field {key}", "text", lambda note: format_value(note.frontmatter.get(key)))._replace(field=key)
    name = text.strip("\"'").lower()
    if name in _DATED:
        return _column(name, "date", _DATED[name])
    if name in _COLUMNS:
        return _column(name, "text", _COLUMNS[name])
    allowed = "metadata->>'…', path, file_path, title, content, created_at, updated_at"
    raise DefinitionError(f"the field {text[:100]!r} is not known ({allowed} are)")


def _column(name: str, kind: Type, read: Read) -> Expression:
    return Expression(kind, lambda table: table.column(name, read))


def _cast(inner: Expression, name: str) -> Expression:
    kind = _TYPES.get(name)
    if kind is None:
        raise DefinitionError(f"the type {name} is not known")
    template = "whole({0})" if name in _WHOLE else "{0}"

    def write(table: NotesTable) -> str:
        same = kind == inner.type
        return template.format(inner.write(table) if same else _FROM_TEXT[kind].format(inner.write_text(table)))

    return inner._replace(type=kind, write=write, is_cast=True)
