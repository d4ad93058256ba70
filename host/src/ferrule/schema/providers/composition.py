"""References and alternatives in a schema, written out as one schema as far as that goes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ferrule.schema.rules.contract import TYPES

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONObject

_COMPOSITION = ("allOf", "anyOf", "oneOf")
_MAX_REFERENCES = 8  # that are followed from one place, and then one inside another


def resolve(schema: JSONObject, root: JSONObject, seen: tuple[str, ...] = ()) -> tuple[JSONObject, tuple[str, ...]]:
    """The schema with what its `$ref` leads to; what stands beside the reference wins.

    root: where local references begin. seen: the references that were followed on the way here; one that is followed
    twice leads round in a circle. What leads out of the schema, or nowhere, is left out.
    """
    schema = dict(schema)
    for _ in range(_MAX_REFERENCES):
        reference = schema.pop("$ref", None)
        schema.pop("$dynamicRef", None)
        if not isinstance(reference, str):
            break
        is_known = reference in seen
        seen = (*seen, reference)
        found = _find(reference, root)
        if found is None or is_known:
            break
        schema = {**found, **schema}
    schema.pop("$ref", None)
    return schema, seen


def flatten(schema: JSONObject, root: JSONObject) -> JSONObject:
    """The schema without `allOf`, `anyOf` and `oneOf`: with the properties that any branch names, and values of all.

    What all branches of `allOf` require is required; what one of several branches requires is not.
    """
    flat = {key: value for key, value in schema.items() if key not in _COMPOSITION}
    for keyword in _COMPOSITION:
        branches = [resolve(one, root)[0] for one in schema.get(keyword, ()) if isinstance(one, dict)]
        for branch in branches:
            _take_properties(flat, branch, is_required=keyword == "allOf")
        if "type" not in flat:
            flat["type"] = _common_type({_type(branch) for branch in branches} - {None, "null"})
        values = [list(_values(branch)) for branch in branches]
        if values and all(values) and "enum" not in flat:
            flat["enum"] = [value for one in values for value in one]
    flat["type"] = _type(flat)
    return flat


def _take_properties(flat: JSONObject, branch: JSONObject, *, is_required: bool) -> None:
    properties = branch.get("properties")
    if isinstance(properties, dict):
        flat["properties"] = {**properties, **flat.get("properties", {})}
    if is_required and isinstance(branch.get("required"), list):
        known = flat.get("properties", {})
        required = [*flat.get("required", ()), *branch["required"]]
        flat["required"] = [name for name in dict.fromkeys(required) if name in known]


def _values(branch: JSONObject) -> Iterator[object]:
    if "const" in branch:
        yield branch["const"]
    elif isinstance(branch.get("enum"), list):
        yield from branch["enum"]


def _type(schema: JSONObject) -> object:
    """The one type of a schema, which a branch need not say; None where it could be several."""
    kind = schema.get("type")
    if isinstance(kind, list):
        kinds = [one for one in kind if one != "null"]
        return kinds[0] if len(kinds) == 1 else None
    if kind in TYPES:
        return kind
    if "properties" in schema:
        return "object"
    if "items" in schema:
        return "array"
    values = schema.get("enum", [schema["const"]] if "const" in schema else [])
    return "string" if values and all(isinstance(value, str) for value in values) else None


def _common_type(kinds: set[object]) -> object:
    """The one type of branches. Where they have several, all of them: none of them could stand for the others."""
    if kinds == {"integer", "number"}:
        return "number"
    return next(iter(kinds)) if len(kinds) == 1 else sorted(map(str, kinds)) or None


def _find(reference: str, root: JSONObject) -> JSONObject | None:
    """What a local reference leads to, where that is a schema with a sense of its own: not the whole of it."""
    found: object = root
    if not reference.startswith("#/"):
        return None
    for token in reference[2:].split("/"):
        key = token.replace("~1", "/").replace("~0", "~")
        if isinstance(found, dict):
            found = found.get(key)
        elif isinstance(found, list) and key.isdigit() and int(key) < len(found):
            found = found[int(key)]
        else:
            return None
    return found if isinstance(found, dict) else None
