"""Schemas that are nested too deeply to be read are cut before anything else looks at them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ferrule import JSONObject

_MAX_LEVELS = 64  # levels of JSON


def prune(schema: object) -> tuple[JSONObject, bool]:
    """The schema without what is nested too deeply, and whether there was such.

    What is no object becomes one without properties.
    """
    if not isinstance(schema, dict):
        return {"type": "object"}, False
    if not _is_too_deep(schema):
        return schema, False
    pruned = _copy(schema, _MAX_LEVELS)
    return pruned if isinstance(pruned, dict) else {}, True


def _is_too_deep(schema: JSONObject) -> bool:
    layer: list[object] = [schema]
    for _ in range(_MAX_LEVELS):
        layer = [inner for one in layer for inner in _list_inside(one) if isinstance(inner, dict | list)]
        if not layer:
            return False
    return True


def _list_inside(value: object) -> list[object]:
    return list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []


def _copy(value: object, levels: int) -> object:
    if isinstance(value, dict):
        return {key: _copy(inner, levels - 1) for key, inner in value.items()} if levels else {}
    if isinstance(value, list):
        return [_copy(inner, levels - 1) for inner in value] if levels else []
    return value
