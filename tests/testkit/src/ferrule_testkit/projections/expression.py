"""Arguments of a server as they are written for its projected schema: translation the other way round."""

from __future__ import annotations

from typing import Any

from ferrule.text import strict_json
from ferrule_mcp.projection.translation import translate_arguments

_BLANK: tuple[object, ...] = ("", [])


def express(how: dict[str, Any], schema: dict[str, Any], arguments: dict[str, Any], *, is_top: bool = True) -> Any:
    """The arguments that the projected schema takes for these.

    how: the translation. schema: the projected one of the same place. What cannot be said otherwise goes into the
    argument for the rest, where there is one; what is null, or blank at the top, is left out otherwise.
    """
    shown_by_name = {inner.get("name", shown): shown for shown, inner in how.get("properties", {}).items()}
    required = schema.get("required", [])
    written: dict[str, Any] = {}
    rest: dict[str, Any] = {}
    for name, value in arguments.items():
        shown = shown_by_name.get(name, name)
        inner, form = how.get("properties", {}).get(shown, {}), schema["properties"].get(shown)
        if form is None or shown == how.get("rest"):
            (rest if "rest" in how else written)[name] = value
            continue
        said = write_value(inner, form, value)
        if said is None or (is_top and said in _BLANK and shown not in required):
            if "rest" in how:
                rest[name] = value
            continue
        written[shown] = said
    if rest:
        written[how["rest"]] = strict_json.dumps(rest).decode()
    return written


def write_value(how: dict[str, Any], form: dict[str, Any], value: Any) -> Any:
    """One value, as the projected schema takes it."""
    if "values" in how:
        return next((text for text, meant in how["values"].items() if is_same(meant, value)), value)
    if value is None and "null" not in how.get("json", ["null"]):
        return None
    if "json" in how and not isinstance(value, str):
        return strict_json.dumps(value).decode()
    if isinstance(value, str):
        is_itself = value != "" or "blank" not in how
        return value if is_itself and read_text(how, value) == value else strict_json.dumps(value).decode()
    if isinstance(value, list) and "enum" not in form:
        return [write_value(how.get("items", {}), form["items"], item) for item in value]
    return express(how, form, value, is_top=False) if isinstance(value, dict) and "enum" not in form else value


def read_text(how: dict[str, Any], text: str) -> Any:
    """What a text is translated to."""
    return translate_arguments({"properties": {"x": how}}, {"x": text}).get(how.get("name", "x"))


def is_same(one: Any, other: Any) -> bool:
    """Equality of JSON values: true is not 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(is_same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(is_same(one[key], other[key]) for key in one)
    return bool(one == other)
