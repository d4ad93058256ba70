"""The schema of a tool's results as clients get it, and whether a result fits it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from ferrule.artifacts import handles

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

    from ferrule.text.json_types import JSONMapping, JSONObject

_OF_THE_WHOLE = ("$schema", "$defs", "definitions")  # keys to which references from the root lead
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
    are. A schema that is none counts as not declared; `ferrule check` tells its author.
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
    whole = {key: declared[key] for key in _OF_THE_WHOLE if key in declared}
    own = {key: value for key, value in declared.items() if key not in whole}
    return {**whole, "type": "object", "anyOf": [own, LINK]}


def _is_schema(declared: JSONObject) -> bool:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError
    from jsonschema.validators import validator_for

    try:
        validator_for(declared, Draft202012Validator).check_schema(declared)
    except SchemaError:
        return False
    return True
