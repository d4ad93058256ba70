"""The schema of a tool's results as clients get it, and whether a result fits it."""

from __future__ import annotations

import copy
from functools import cached_property
from typing import TYPE_CHECKING
from urllib.parse import unquote

from ferrule.calls.server_interface import all_schemas
from ferrule.content.artifacts import handles

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jsonschema.protocols import Validator

    from ferrule.text.json_types import JSONMapping, JSONObject

_OF_THE_WHOLE = ("$schema", "$id", "$defs", "definitions")  # where references from the root begin, and lead to
_REFERENCES = ("$ref", "$dynamicRef")
_ANCHORS = ("$anchor", "$dynamicAnchor")
_PLACE = "#/anyOf/0"  # of the declared schema in the form
# What clients assert by rules of their own: format is told apart differently by each, and a pattern is Python's here.
_LEFT_TO_THE_SERVER = ("format", "pattern")
_MAX_REASON_CHARS = 300
LINK: JSONObject = {
    "title": "Link",
    "description": "Stands for a result that is too large; the resource is the result.",
    "type": "object",
    "properties": {
        "resource": {"type": "string", "pattern": f"^{handles.PREFIX}[0-9a-f]{{64}}$"},
        "bytes": {"type": "integer"},
        "linked": {"const": True},
    },
    "required": ["resource", "bytes", "linked"],
}


class OutputSchema:
    """What results of a tool look like. declared: its `result_schema`, None where it declares none.

    form: as clients get it, None where nothing is known. A result may always be a link instead, since the largest ones
    are. A schema that is none, or that refers to what is not in it, counts as not declared.
    """

    def __init__(self, declared: JSONObject | None) -> None:
        self._declared = declared if declared is not None and _is_schema(declared) else None
        self.form = None if self._declared is None else _or_link(self._declared)

    def find_fault(self, structured: JSONMapping | None) -> str:
        """Why a client would refuse this structured content; empty where it fits."""
        if self._declared is None:
            return ""
        if structured is None:
            return "it has no JSON object"
        if structured.get("linked") is True and self._link_validator.is_valid(structured):
            return ""
        from jsonschema.exceptions import best_match

        found = best_match(self._validator.iter_errors(structured))
        return "" if found is None else f"{found.json_path}: {found.message}"[:_MAX_REASON_CHARS]

    @cached_property
    def _validator(self) -> Validator:
        from jsonschema import Draft202012Validator
        from jsonschema.validators import validator_for

        declared = self._declared or {}
        return validator_for(declared, Draft202012Validator)(declared)

    @cached_property
    def _link_validator(self) -> Validator:
        from jsonschema import Draft202012Validator

        return Draft202012Validator(LINK)


def _or_link(declared: JSONObject) -> JSONObject:
    """The schema as one of two, so that each client reads it: some fetch nothing, and know an older draft alone.

    A client that cannot read the schema of one tool lists none at all.
    """
    own = copy.deepcopy(declared)
    for _, schema in all_schemas({"parameters": own}):
        for keyword in _LEFT_TO_THE_SERVER:
            schema.pop(keyword, None)
        if "prefixItems" in schema:
            schema.pop("items", None)  # which an older draft holds against all items
        for keyword in _REFERENCES:
            if keyword in schema:
                schema[keyword] = _move(str(schema[keyword]))
    whole = {key: own.pop(key) for key in _OF_THE_WHOLE if key in own}
    return {**whole, "type": "object", "anyOf": [own, LINK]}


def _move(reference: str) -> str:
    """A reference from the root of the declared schema, in the form."""
    leads_along = not any(reference == f"#/{key}" or reference.startswith(f"#/{key}/") for key in _OF_THE_WHOLE)
    is_path = reference == "#" or reference.startswith("#/")
    return f"{_PLACE}{reference[1:]}" if is_path and leads_along else reference


def _is_schema(declared: JSONObject) -> bool:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError
    from jsonschema.validators import validator_for

    try:
        validator_for(declared, Draft202012Validator).check_schema(declared)
    except SchemaError:
        return False
    return all(_leads_somewhere(reference, declared) for reference in _references(declared))


def _references(declared: JSONObject) -> Iterator[str]:
    for _, schema in all_schemas({"parameters": declared}):
        yield from (str(schema[keyword]) for keyword in _REFERENCES if keyword in schema)


def _leads_somewhere(reference: str, declared: JSONObject) -> bool:
    """Whether a reference leads to a place in the schema: nobody fetches anything for it."""
    if not reference.startswith("#/"):
        anchors = {schema.get(key) for _, schema in all_schemas({"parameters": declared}) for key in _ANCHORS}
        return reference == "#" or (reference.startswith("#") and reference[1:] in anchors)
    found: object = declared
    for token in unquote(reference[2:]).split("/"):
        key = token.replace("~1", "/").replace("~0", "~")
        if isinstance(found, list) and key.isdigit() and int(key) < len(found):
            found = found[int(key)]
        elif isinstance(found, dict) and key in found:
            found = found[key]
        else:
            return False
    return isinstance(found, dict | bool)
