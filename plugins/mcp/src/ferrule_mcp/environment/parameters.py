"""What differs between the parameters of two definitions of a tool, in sentences."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ferrule_mcp.launch.json_values import read_object, read_texts

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONObject

_MAX_LEVELS = 8
_MAX_CHARS = 160
_TOLD_APART = ("properties", "required", "items")


def find_schema(tool: JSONObject) -> JSONObject:
    """The schema of the arguments in a server's definition, or in ferrule's."""
    return read_object(tool.get("inputSchema") or tool.get("parameters"))


def compare_parameters(old: JSONObject, new: JSONObject, path: str = "", level: int = 0) -> Iterator[str]:
    """One sentence for each parameter that came, went or changed, those in parameters included.

    Args:
        old, new: schemas of objects.
        path: of the parameter that they are of; empty for the arguments themselves.
        level: how deep that lies.
    """
    before, after = read_object(old.get("properties")), read_object(new.get("properties"))
    were, are = set(read_texts(old.get("required"))), set(read_texts(new.get("required")))
    for name in sorted({*before, *after}):
        place = f"{path}.{name}" if path else name
        if name not in after:
            yield f"The parameter {place} is gone."
        elif name not in before:
            must = "required" if name in are else "optional"
            yield f"The parameter {place} is new and {must}: {_shorten(after[name])}"
        else:
            if (name in were) != (name in are):
                yield f"The parameter {place} is {'now' if name in are else 'no longer'} required."
            yield from _compare_parameter(read_object(before[name]), read_object(after[name]), place, level)


def _compare_parameter(old: JSONObject, new: JSONObject, place: str, level: int) -> Iterator[str]:
    for key in sorted({*old, *new}):
        if key not in _TOLD_APART and old.get(key) != new.get(key):
            yield f"{key} of {place}: {_shorten(old.get(key))} -> {_shorten(new.get(key))}"
    if level < _MAX_LEVELS:
        yield from compare_parameters(old, new, place, level + 1)
        items = read_object(old.get("items")), read_object(new.get("items"))
        if items[0] != items[1]:
            yield from _compare_parameter(*items, f"{place}[]", level + 1)
    elif old != new:
        yield f"{place} differs deep inside."


def _shorten(value: object) -> str:
    if value is None:
        return "(none)"
    text = json.dumps(value, ensure_ascii=False, sort_keys=True)
    return text if len(text) <= _MAX_CHARS else f"{text[:_MAX_CHARS]}…"
