"""Expressions that a definition may name: fields of notes, casts of them, and aggregates over several notes."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from operator import attrgetter
from typing import Any, Literal, NamedTuple

from ferrule_opennotes.notebook import dates
from ferrule_opennotes.notebook.notes import Note, to_text
from ferrule_opennotes.views.definitions import DefinitionError

Type = Literal["text", "number", "date", "bool"]
Value = object  # what YAML has, or an instant

_METADATA = re.compile(r"metadata\s*(?:->>?\s*(?:'([^']+)'|\"([^\"]+)\")|\[\s*'([^']+)'\s*\])", re.IGNORECASE)
_CAST = re.compile(r"(?:TRY_)?CAST\s*\((.+)\s+AS\s+([A-Za-z]+)(?:\([\d, ]*\))?\s*\)", re.IGNORECASE | re.DOTALL)
_POSTFIX = re.compile(r"(.+)::\s*([A-Za-z]+)(?:\([\d, ]*\))?", re.DOTALL)
_AGGREGATE = re.compile(r"(COUNT|SUM|AVG|MIN|MAX)\s*\(\s*(DISTINCT\s+)?(.+?)\s*\)", re.IGNORECASE | re.DOTALL)
MAX_CHARS = 500  # characters of an expression

_WHOLE = ("INTEGER", "INT", "BIGINT", "SMALLINT", "TINYINT", "HUGEINT", "UBIGINT", "UINTEGER")
_TYPES: dict[str, Type] = {
    **dict.fromkeys((*_WHOLE, "DOUBLE", "FLOAT", "REAL", "DECIMAL", "NUMERIC"), "number"),
    **dict.fromkeys(("VARCHAR", "TEXT", "STRING", "CHAR"), "text"),
    **dict.fromkeys(("DATE", "TIMESTAMP", "TIMESTAMPTZ", "DATETIME"), "date"),
    **dict.fromkeys(("BOOLEAN", "BOOL"), "bool"),
}
_DATED: dict[str, Callable[[Note], str | None]] = {
    **dict.fromkeys(("created_at", "created"), attrgetter("created")),
    **dict.fromkeys(("updated_at", "updated", "modified", "modified_at"), attrgetter("modified")),
}
_COLUMNS: dict[str, Callable[[Note], str | None]] = {
    **dict.fromkeys(("path", "relative_path"), attrgetter("path")),
    "file_path": attrgetter("absolute"),
    "filename": lambda note: note.path.rpartition("/")[2],
    "title": attrgetter("name"),
    "content": attrgetter("text"),
    "body": attrgetter("body"),
}


class Expression(NamedTuple):
    """What can be compared, ordered by and shown.

    name: under which it is shown. field: of the frontmatter, if it is one. read: its value for the notes of a row, of
    which there are several only where notes are grouped.
    """

    name: str
    type: Type
    read: Callable[[Sequence[Note]], Value]
    field: str | None = None
    is_aggregate: bool = False


def parse(text: object, aliases: Mapping[str, Expression] | None = None) -> Expression:
    """The expression that a text stands for. aliases: the aggregates that have names. Raises DefinitionError."""
    if not isinstance(text, str) or not text.strip() or len(text) > MAX_CHARS:
        raise DefinitionError(f"{str(text)[:100]!r} is no field")
    text = _strip_brackets(text.strip())
    if aliases and text in aliases:
        return aliases[text]
    if aggregate := _AGGREGATE.fullmatch(text):
        return _aggregate(text, aggregate[1].upper(), bool(aggregate[2]), aggregate[3])
    if cast := _POSTFIX.fullmatch(text) or _CAST.fullmatch(text):
        return _cast(parse(cast[1]), cast[2].upper())
    return _field(text)


def _strip_brackets(text: str) -> str:
    """The text without brackets around all of it."""
    while text.startswith("(") and text.endswith(")") and _closes_last(text):
        text = text[1:-1].strip()
    return text


def _closes_last(text: str) -> bool:
    depth = 0
    for place, character in enumerate(text):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if not depth:
            return place == len(text) - 1
    return False


def _field(text: str) -> Expression:
    if found := _METADATA.fullmatch(text):
        key = found[1] or found[2] or found[3]
        dated = _DATED.get(key) if key in ("created_at", "updated_at") else None
        if dated:  # what the CLI's own views order by, and what no note has that it writes itself
            return Expression(key, "date", _read_first(_date(dated)), key)
        return Expression(key, "text", _read_first(lambda note: note.frontmatter.get(key)), key)
    name = text.strip("\"'").lower()
    if name in _DATED:
        return Expression(name, "date", _read_first(_date(_DATED[name])))
    if name in _COLUMNS:
        return Expression(name, "text", _read_first(_COLUMNS[name]))
    allowed = "metadata->>'…', path, file_path, title, content, created_at, updated_at"
    raise DefinitionError(f"the field {text[:100]!r} is not known ({allowed} are)")


def _read_first(read: Callable[[Note], Value]) -> Callable[[Sequence[Note]], Value]:
    return lambda notes: read(notes[0]) if notes else None


def _date(read: Callable[[Note], str | None]) -> Callable[[Note], Value]:
    return lambda note: dates.parse(read(note))


def _cast(inner: Expression, name: str) -> Expression:
    kind = _TYPES.get(name)
    if kind is None:
        raise DefinitionError(f"the type {name} is not known")
    is_whole = name in _WHOLE

    def read(notes: Sequence[Note]) -> Value:
        value = to_type(inner.read(notes), kind)
        return round(value) if is_whole and isinstance(value, float) else value

    return inner._replace(type=kind, read=read)


def to_type(value: Value, kind: Type) -> Value:
    """A value as a type; None where it cannot be."""
    if value is None or isinstance(value, list | dict):
        return None if kind != "text" or value is None else format_value(value)
    if kind == "number":
        return to_number(value)
    if kind == "date":
        return value if isinstance(value, datetime) else dates.parse(to_text(value))
    if kind == "bool":
        return {"true": True, "1": True, "false": False, "0": False}.get(to_text(value).strip().lower())
    return format_value(value)


def to_number(value: Value) -> int | float | None:
    """The number that a value is, or that its text spells; None where it is none."""
    if isinstance(value, int | float):
        return int(value) if isinstance(value, bool) else value
    if not isinstance(value, str) or not re.fullmatch(r"\s*[-+]?(?:\d{1,30}\.?\d{0,30}|\.\d{1,30})\s*", value):
        return None
    number = float(value)
    return int(value) if "." not in value else number


def format_value(value: Value) -> str:
    """A value as text: as YAML writes it, dates in ISO 8601, lists and mappings as JSON."""
    if isinstance(value, datetime):
        return value.isoformat()
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else to_text(value)


def _aggregate(text: str, function: str, is_distinct: bool, argument: str) -> Expression:
    name = " ".join(text.split())
    if argument == "*":
        if function != "COUNT" or is_distinct:
            raise DefinitionError(f"{name} counts nothing; only COUNT(*) does")
        return Expression(name, "number", len, is_aggregate=True)
    inner = parse(argument)
    if inner.is_aggregate:
        raise DefinitionError(f"{name}: an aggregate of an aggregate")

    def read(notes: Sequence[Note]) -> Value:
        values = [value for note in notes if (value := inner.read([note])) is not None]
        if is_distinct:
            values = list({format_value(value): value for value in values}.values())
        return _AGGREGATES[function](values)

    kind: Type = inner.type if function in ("MIN", "MAX") else "number"
    return Expression(name, kind, read, is_aggregate=True)


def _sum(values: Sequence[Value], *, is_average: bool = False) -> int | float | None:
    """The sum of the numbers among the values, or their average; None where there is none that fits JSON."""
    numbers = [number for value in values if (number := to_number(value)) is not None]
    if not numbers:
        return None
    found = sum(numbers) / len(numbers) if is_average else sum(numbers)
    return found if math.isfinite(found) else None


def order_key(value: Value) -> object:
    """By what values of one expression are ordered: numbers and dates as such, anything else as text."""
    if isinstance(value, datetime):
        return value.timestamp()
    return value if isinstance(value, int | float) and not isinstance(value, bool) else format_value(value)


def _choose_key(values: Sequence[Value]) -> Callable[[Value], Any]:
    """One key for all: text, unless every value has another."""
    kinds = {isinstance(order_key(value), str) for value in values}
    return format_value if len(kinds) > 1 else order_key


_AGGREGATES: dict[str, Callable[[Sequence[Value]], Value]] = {
    "COUNT": len,
    "SUM": _sum,
    "AVG": partial(_sum, is_average=True),
    "MIN": lambda values: min(values, key=_choose_key(values), default=None),
    "MAX": lambda values: max(values, key=_choose_key(values), default=None),
}
