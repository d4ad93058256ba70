"""What a JSON text has to look like, in a short notation for a model: `{name: string, tags?: string[]} | null`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule.text import strict_json
from ferrule_mcp.projection.alternatives import ANY
from ferrule_mcp.projection.intersections import list_item_schemas

if TYPE_CHECKING:
    from ferrule_mcp.projection.alternatives import Alternative, Unfolding, Union

_MAX_LEVELS = 8
_MAX_VALUES = 30
_MAX_VALUE_CHARS = 60
_MORE = "…"


class Sketch:
    """One notation as it grows. chars: as many as it may have; what comes after that is an ellipsis."""

    def __init__(self, unfolding: Unfolding, chars: int) -> None:
        self._unfolding = unfolding
        self._left = chars

    def draw(self, alternatives: list[Alternative], level: int = 1) -> str:
        """The notation of one value."""
        drawn: list[str] = []
        for one in alternatives:
            if self._left <= 0:
                drawn.append(_MORE)
                break
            text = self._draw_one(one, level)
            if text not in drawn:
                drawn.append(text)
        return " | ".join(drawn) or "never"

    def _draw_one(self, one: Alternative, level: int) -> str:
        if one.values is not None:
            return self._spend(" | ".join(_write(value) for value in one.values[:_MAX_VALUES]) + _more(one.values))
        if one.is_cut or level > _MAX_LEVELS:
            return self._spend(one.kind if one.kind not in (ANY, "object") else "{…}" if one.kind == "object" else ANY)
        if one.kind == "object":
            return self._draw_object(one, level)
        if one.kind == "array":
            items = list_item_schemas(one)
            inner = ANY if items is None else self.draw(self._unfolding.unfold(items), level + 1)
            return f"({inner})[]" if " | " in inner else f"{inner}[]"
        return self._spend(one.kind)

    def _draw_object(self, one: Alternative, level: int) -> str:
        fields: list[str] = []
        for name, union in one.properties.items():
            if self._left <= 0:
                fields.append(_MORE)
                break
            field = self._spend(f"{_key(name)}{'' if name in one.required else '?'}: ")
            fields.append(field + self.draw(self._unfolding.unfold(union), level + 1))
        if one.extras and self._left > 0:
            fields.append("[name]: " + self.draw(self._unfolding.unfold(one.extras), level + 1))
        return f"{{{', '.join(fields) or _MORE}}}"

    def _spend(self, text: str) -> str:
        self._left -= len(text) + 2
        return text


def draw_union(unfolding: Unfolding, union: Union, chars: int) -> str:
    """The notation of a value that fits a union, in about `chars` characters."""
    return Sketch(unfolding, chars).draw(unfolding.unfold(union))


def _key(name: str) -> str:
    return name if name.isidentifier() and name.isascii() else _write(name[:_MAX_VALUE_CHARS])


def _write(value: object) -> str:
    if isinstance(value, str):
        value = value[:_MAX_VALUE_CHARS]
    try:
        text = strict_json.dumps(value).decode()
    except strict_json.Unrepresentable:
        return _MORE
    return text if len(text) <= _MAX_VALUE_CHARS + 2 else text[:_MAX_VALUE_CHARS] + _MORE


def _more(values: list[object]) -> str:
    return f" | {_MORE}" if len(values) > _MAX_VALUES else ""
