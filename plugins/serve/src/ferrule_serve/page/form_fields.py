"""A form made from a schema: its fields, and the arguments that a filled one stands for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from ferrule.text import strict_json

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONMapping

_PREFIX = "argument."  # of a field's name in a form, so that no property has the name of a field of the page's own

JSON = "json"
"""The name of the one field in which all arguments stand, as a JSON object."""

_MAX_LINE_CHARS = 200  # what may be longer gets more than one line


class Field(NamedTuple):
    """One argument in a form.

    kind: `choice`, `line`, `text`, `number` or `json`. choices: JSON texts. hint: what the schema says beside the
    description, one line.
    """

    name: str
    kind: str
    description: str
    hint: str
    is_required: bool
    choices: tuple[str, ...]

    @property
    def form_name(self) -> str:
        """The field's name in a form."""
        return _PREFIX + self.name


def form_fields(parameters: JSONMapping) -> list[Field]:
    """The fields for a schema's properties, in their order."""
    required = parameters.get("required")
    names = required if isinstance(required, list) else []
    found = parameters.get("properties")
    properties = found if isinstance(found, dict) else {}
    return [_field(name, facts if isinstance(facts, dict) else {}, name in names) for name, facts in properties.items()]


def read_arguments(parameters: JSONMapping, form: Mapping[str, str]) -> bytes:
    """The arguments as an executable reads them from stdin.

    A field that is empty is left out. What cannot be read as its field's type is handed on as text, so that the host
    says what is wrong with it, as it says it to a model. form: what was sent, of which the field `json` counts alone.
    """
    if JSON in form:
        return form[JSON].encode()
    filled = ((field, form.get(field.form_name, "")) for field in form_fields(parameters))
    return json.dumps({field.name: _value(field.kind, text) for field, text in filled if text != ""}).encode()


def _field(name: str, facts: JSONMapping, is_required: bool) -> Field:
    choices = _choices(facts)
    kind = "choice" if choices else _kind(facts)
    return Field(name, kind, str(facts.get("description", "")), _hint(facts, kind), is_required, choices)


def _choices(facts: JSONMapping) -> tuple[str, ...]:
    values = facts.get("enum")
    if not isinstance(values, list):
        values = [True, False] if facts.get("type") == "boolean" else []
    return tuple(json.dumps(value) for value in values)


def _kind(facts: JSONMapping) -> str:
    """A text of which a short limit, a format or a pattern is known fits into a line."""
    kind = _type(facts)
    if kind == "string":
        longest = facts.get("maxLength")
        is_short = isinstance(longest, int) and longest <= _MAX_LINE_CHARS
        return "line" if is_short or "format" in facts or "pattern" in facts else "text"
    return "number" if kind in ("integer", "number") else "json"


def _type(facts: JSONMapping) -> object:
    """The type, beside null."""
    kind = facts.get("type")
    if isinstance(kind, list):
        others = [one for one in kind if one != "null"]
        return others[0] if len(others) == 1 else None
    return kind


def _hint(facts: JSONMapping, kind: str) -> str:
    words = ("format", "pattern", "minimum", "maximum", "minLength", "maxLength", "default")
    known = [f"{word} {_short(facts[word])}" for word in words if word in facts]
    types = [_short(facts["type"])] if "type" in facts else []
    return ", ".join([*types, *known, *(["as JSON"] if kind == "json" else [])])


def _short(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _MAX_LINE_CHARS else text[: _MAX_LINE_CHARS - 1] + "…"


def _value(kind: str, text: str) -> object:
    text = text.replace("\r\n", "\n")  # which is how browsers send the end of a line
    if kind in ("line", "text"):
        return text
    try:
        return strict_json.loads(text)
    except strict_json.MalformedJSON:
        return text
