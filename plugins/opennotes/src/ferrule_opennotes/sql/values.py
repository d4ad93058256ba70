"""DuckDB's values as JSON has them."""

from __future__ import annotations

import base64
import math
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

_LARGEST = 1 << 1023  # what a reader of JSON surely takes as a number

# What Python has no type for, or needs another package for, the database itself writes as text.
_AS_TEXT = (
    "TIMESTAMP WITH TIME ZONE",
    "TIME WITH TIME ZONE",
    "TIMESTAMP_NS",
    "TIME_NS",
    "INTERVAL",
    "UUID",
    "BIT",
    "BIGNUM",
    "VARINT",
)


def read_as(kind: str) -> str | None:
    """The type to which a column of the type `kind` has to be cast before Python reads it; None: as it is."""
    changed = kind
    for name in _AS_TEXT:
        changed = changed.replace(name, "VARCHAR")
    return changed if changed != kind else None


def as_json(value: Any) -> Any:
    """Dates and times become ISO 8601, decimals numbers, bytes base64, maps and structs objects.

    What is no number to JSON (NaN, the infinities) becomes text, and so does a number that no reader of JSON takes.
    """
    convert = _CONVERSIONS.get(type(value))
    return convert(value) if convert else str(value)


def zoned(text: Any) -> Any:
    """A point in time in UTC, as DuckDB writes it, in ISO 8601: "2026-01-02 03:04:05+00" -> "2026-01-02T03:04:05Z"."""
    if not isinstance(text, str) or not text.endswith("+00"):
        return text
    return f"{text[:-3].replace(' ', 'T', 1)}Z"


def _same(value: Any) -> Any:
    return value


def _text(value: str) -> str:
    return value.replace("\0", "\ufffd")  # the client cannot store a NUL


def _integer(value: int) -> int | str:
    return value if -_LARGEST < value < _LARGEST else str(value)


def _float(value: float) -> float | str:
    return value if math.isfinite(value) else str(value)


def _decimal(value: Decimal) -> float | int | str:
    if not value.is_finite():
        return str(value)
    return int(value) if value == value.to_integral_value() else float(value)


def _iso(value: date | time) -> str:
    return value.isoformat()


def _bytes(value: bytes) -> str:
    return base64.b64encode(value).decode("ascii")


def _list(value: list[Any] | tuple[Any, ...]) -> list[Any]:
    return [as_json(item) for item in value]


def _object(value: dict[Any, Any]) -> dict[str, Any]:
    return {_key(key): as_json(item) for key, item in value.items()}


def _key(key: Any) -> str:
    key = as_json(key)
    if isinstance(key, bool):
        return "true" if key else "false"
    return key if isinstance(key, str) else str(key)


_CONVERSIONS: dict[type, Any] = {
    type(None): _same,
    bool: _same,
    str: _text,
    int: _integer,
    float: _float,
    Decimal: _decimal,
    datetime: _iso,
    date: _iso,
    time: _iso,
    timedelta: str,
    bytes: _bytes,
    list: _list,
    tuple: _list,
    dict: _object,
}
