"""Values of JSON that somebody else has written, read as what they should be; anything else counts as empty."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONObject


def read_object(value: object) -> JSONObject:
    """The object, or an empty one."""
    return value if isinstance(value, dict) else {}


def read_objects(value: object) -> list[JSONObject]:
    """The objects of a list."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def read_texts(value: object) -> list[str]:
    """The texts of a list, and its numbers as texts."""
    listed = value if isinstance(value, list) else []
    return [write_value(one) for one in listed if isinstance(one, str | int | float)]


def read_map(value: object) -> dict[str, str]:
    """The members of an object that are texts, numbers or truth values, as texts."""
    found = read_object(value)
    return {str(name): write_value(one) for name, one in found.items() if isinstance(one, str | int | float)}


def write_value(value: object) -> str:
    """A value as the text that a variable or an argument has: `true` for True."""
    return str(value).lower() if isinstance(value, bool) else str(value)
