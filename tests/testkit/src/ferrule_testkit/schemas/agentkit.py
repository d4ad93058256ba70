"""Which schemas of arguments the library agentkit takes: one that it does not take fails a whole turn."""

from collections.abc import Iterator
from typing import Any

_KEYWORDS = {
    "object": {"type", "description", "properties", "required"},
    "array": {"type", "description", "items"},
    "string": {"type", "description", "enum"},
    "integer": {"type", "description"},
    "number": {"type", "description"},
    "boolean": {"type", "description"},
}


def faults(schema: Any, place: str = "#") -> Iterator[str]:
    """Why agentkit refuses a schema of arguments: the rules of both validators it has had, in one.

    `validateToolSchema` of its releases 0.12 to 0.15 takes `title`, `$ref`, `anyOf`, `default` and some limits, and an
    `enum` of texts alone. `ValidateToolSchema`, which came after it, takes other limits, and no `title`, no `$ref` and
    no `default`; it wants a type everywhere, items of every array, and each required name once, as a property.
    """
    if not isinstance(schema, dict) or schema.get("type") not in list(_KEYWORDS):
        yield f"{place}: type must be one supported string"
        return
    kind = schema["type"]
    yield from (f"{place}: {keyword} not permitted for {kind}" for keyword in schema.keys() - _KEYWORDS[kind])
    if not isinstance(schema.get("description", ""), str):
        yield f"{place}: description must be a string"
    values = schema.get("enum", ["any"])
    if not isinstance(values, list) or not values or not all(isinstance(value, str) for value in values):
        yield f"{place}: enum must be texts, at least one"
    if kind == "object":
        yield from _faults_of_object(schema, place)
    elif kind == "array":
        yield from faults(schema.get("items"), f"{place}/items")


def _faults_of_object(schema: dict[str, Any], place: str) -> Iterator[str]:
    properties = schema.get("properties", {})
    for name, inner in properties.items():
        yield from faults(inner, f"{place}/properties/{name}")
    seen = set()
    for name in schema.get("required", []):
        if not isinstance(name, str) or not name or name in seen or name not in properties:
            yield f"{place}: required has {name!r}"
        seen.add(name)
