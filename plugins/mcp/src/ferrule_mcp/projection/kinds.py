"""The types of JSON Schema: which keywords belong to which, and of which type a value is."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ferrule import JSONObject

KINDS = ("string", "integer", "number", "boolean", "array", "object", "null")

_NUMBERS = {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}
_BELONGING = {
    "string": {"minLength", "maxLength", "pattern", "contentEncoding", "contentMediaType"},
    "number": _NUMBERS,
    "integer": _NUMBERS,
    "array": {
        *("items", "prefixItems", "additionalItems", "minItems", "maxItems", "uniqueItems"),
        *("contains", "minContains", "maxContains", "unevaluatedItems"),
    },
    "object": {
        *("properties", "required", "additionalProperties", "patternProperties", "propertyNames"),
        *("minProperties", "maxProperties", "unevaluatedProperties"),
        *("dependentRequired", "dependentSchemas", "dependencies"),
    },
}
_SUGGESTING = ("object", "array", "string", "number")
_ALL = set().union(*_BELONGING.values())


def list_kinds(types: object) -> list[str]:
    """The types that the keyword `type` names, each once; none where it names none that there is."""
    named = types if isinstance(types, list) else [types]
    return [kind for kind in KINDS if kind in named]


def infer_kind(schema: JSONObject) -> str | None:
    """The type that the keywords of a schema suggest, where it names none."""
    return next((kind for kind in _SUGGESTING if not _BELONGING[kind].isdisjoint(schema)), None)


def keeps_keyword(kind: str, keyword: str) -> bool:
    """Whether a keyword says anything about values of a type; `any` for all of them."""
    return keyword not in _ALL or kind == "any" or keyword in _BELONGING.get(kind, ())


def kind_of(value: object) -> str:
    """The type of a JSON value; `integer` for a number without a fraction."""
    if value is None or isinstance(value, bool):
        return "null" if value is None else "boolean"
    if isinstance(value, int | float):
        return "integer" if isinstance(value, int) or value.is_integer() else "number"
    return "string" if isinstance(value, str) else "array" if isinstance(value, list) else "object"


def list_distinct(values: Iterable[object], among: Iterable[object] | None = None) -> list[object]:
    """JSON values, each once; true is not 1. among: values that are left; None for all."""
    left = None if among is None else {_key(value) for value in among}
    keyed = {_key(value): value for value in values}
    return [value for key, value in keyed.items() if left is None or key in left]


def _key(value: object) -> tuple[str, object]:
    """What is equal for equal values, as far as these are no objects with their names in another order."""
    kind = kind_of(value)
    return kind, repr(value) if kind in ("array", "object") else value
