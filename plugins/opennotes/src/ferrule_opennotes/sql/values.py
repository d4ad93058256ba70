"""DuckDB's values as JSON has them, and a note's frontmatter as DuckDB has it: every value is text."""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Mapping
from datetime import date, datetime, time
from decimal import Decimal

_MAX_INTEGER = 1 << 1023  # what a reader of JSON surely takes as a number
_HAS_TO_BE_QUOTED = re.compile(r"""[\[\]{}(),"'\\:=]|^\s|\s$|^$|^null$""", re.IGNORECASE)

# What Python has no type for, or needs another package for, the database itself writes as text.
_AS_TEXT = (
    *("TIMESTAMP WITH TIME ZONE", "TIME WITH TIME ZONE", "TIMESTAMP_NS", "TIME_NS"),
    *("INTERVAL", "UUID", "BIT", "BIGNUM", "VARINT"),
)


def find_cast(kind: str) -> str | None:
    """The type to which a column of the type `kind` has to be cast before Python reads it; None: as it is."""
    changed = kind
    for name in _AS_TEXT:
        changed = changed.replace(name, "VARCHAR")
    return changed if changed != kind else None


def to_json(value: object) -> object:
    """Dates and times become ISO 8601, decimals numbers, bytes base64, maps and structs objects.

    What is no number to JSON (NaN, the infinities) becomes text, and so does a number that no reader of JSON takes.
    """
    match value:
        case None | bool():
            return value
        case str():
            return value.replace("\0", "\ufffd")  # the client cannot store a NUL
        case int():
            return value if -_MAX_INTEGER < value < _MAX_INTEGER else str(value)
        case float():
            return value if math.isfinite(value) else str(value)
        case Decimal() if value.is_finite():
            return int(value) if value == value.to_integral_value() else float(value)
        case datetime() | date() | time():
            return value.isoformat()
        case bytes():
            return base64.b64encode(value).decode("ascii")
        case list() | tuple():
            return [to_json(item) for item in value]
        case dict():
            return {_make_key(key): to_json(item) for key, item in value.items()}
    return str(value)


def format_zoned(text: object) -> object:
    """A point in time in UTC, as DuckDB writes it, in ISO 8601: "2026-01-02 03:04:05+00" -> "2026-01-02T03:04:05Z"."""
    if not isinstance(text, str) or not text.endswith("+00"):
        return text
    return f"{text[:-3].replace(' ', 'T', 1)}Z"


def _make_key(key: object) -> str:
    return str(key).lower() if isinstance(key, bool) else str(to_json(key))


def to_map(frontmatter: Mapping[str, object]) -> dict[str, str | None]:
    """`{"tags": ["a", "b"], "priority": 3}` becomes `{"tags": "[a, b]", "priority": "3"}`.

    A list is written so that `CAST(metadata['tags'] AS VARCHAR[])` gives its items back; an object is JSON.
    """
    return {name: _to_text(value) for name, value in frontmatter.items()}


def _to_text(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list):
        return f"[{', '.join(map(_to_item, value))}]"
    return json.dumps(value, ensure_ascii=False)


def _to_item(value: object) -> str:
    if value is None:
        return "NULL"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if not _HAS_TO_BE_QUOTED.search(text):
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
