"""A schema's parameters as a flat list, for people to read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONObject

_MAX_LEVELS = 8  # levels that are listed; no provider takes more
_LIMITS = (
    ("minimum", "≥ {}"),
    ("exclusiveMinimum", "> {}"),
    ("maximum", "≤ {}"),
    ("exclusiveMaximum", "< {}"),
    ("minLength", "at least {} characters"),
    ("maxLength", "at most {} characters"),
    ("minItems", "at least {} items"),
    ("maxItems", "at most {} items"),
    ("pattern", "matches {}"),
    ("format", "{}"),
    ("default", "default {}"),
)


class Parameter(NamedTuple):
    """One parameter, nested ones too.

    path: its name, as in `filter.include`, or `filters[].include` inside an array. type: as in `array of string`.
    limits: as in `≥ 1, ≤ 20`, empty where there are none.
    """

    path: str
    type: str
    required: bool
    limits: str
    description: str


def list_parameters(schema: JSONObject) -> Iterator[Parameter]:
    """The parameters of a tool's schema in their order, each followed by those inside it.

    schema: the whole of it, valid or not; what is not of the expected form is left out.
    """
    yield from _properties(schema.get("parameters"), "", _MAX_LEVELS)


def _properties(schema: object, prefix: str, levels: int) -> Iterator[Parameter]:
    if not isinstance(schema, dict) or not isinstance(schema.get("properties"), dict) or not levels:
        return
    required = schema.get("required")
    for name, inner in schema["properties"].items():
        if not isinstance(inner, dict):
            continue
        path, is_required = f"{prefix}{name}", isinstance(required, list) and name in required
        yield Parameter(path, _type(inner), is_required, describe_limits(inner), str(inner.get("description", "")))
        yield from _properties(inner, f"{path}.", levels - 1)
        yield from _properties(inner.get("items"), f"{path}[].", levels - 1)


def describe_limits(schema: JSONObject) -> str:
    """What a value must keep to beside its type: `≥ 1, ≤ 20`."""
    parts = [text.format(_format_value(schema[keyword])) for keyword, text in _LIMITS if keyword in schema]
    if isinstance(schema.get("enum"), list):
        parts.append("one of " + ", ".join(map(_format_value, schema["enum"])))
    return ", ".join(parts)


def _type(schema: JSONObject) -> str:
    kind = str(schema.get("type", "any"))
    items = schema.get("items")
    return f"{kind} of {items['type']}" if isinstance(items, dict) and "type" in items else kind


def _format_value(value: object) -> str:
    if isinstance(value, str):
        return value or repr(value)
    import json

    return json.dumps(value, ensure_ascii=False)
