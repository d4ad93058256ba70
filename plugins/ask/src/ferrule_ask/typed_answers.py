"""Answers of a type: the schema that goes to the model's provider, and the value that comes back.

The provider takes objects alone, closed ones, and a part of JSON Schema. What it does not take is told to the model in
`description`, and is checked here, as all of the schema is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONMapping, JSONObject

_WRAP = "value"  # the only property of the object that holds what is none
_SCHEMAS = ("items", "additionalProperties")  # keywords with one schema
_TABLES = ("properties", "$defs")  # with a table of schemas
_LISTS = ("anyOf", "allOf")  # with a list of schemas
_TAKEN = frozenset(
    {"type", "description", "title", "enum", "const", "required", "$ref", "default", *_SCHEMAS, *_TABLES, *_LISTS}
)
_FORMATS = frozenset({"date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"})
_MAX_SHOWN_CHARS = 120


class ValueUnfit(Exception):
    """A text is no value of the schema. Its only argument says why."""


def checked(schema: object) -> JSONMapping:
    """The schema, if it is one. Raises ValueError with what is wrong."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError

    if not isinstance(schema, Mapping):
        raise ValueError("a JSON schema, which is an object")
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        raise ValueError(f"a JSON schema: {error.message}") from None
    return schema


def output_format(schema: JSONMapping) -> JSONObject:
    """The `output_config` of a request of Anthropic's whose answer has to fit the schema."""
    return {"format": {"type": "json_schema", "schema": project_schema(schema)}}


def project_schema(schema: JSONMapping) -> JSONObject:
    """What providers take of a schema: an object, which holds the value where that is none."""
    return _project_object(_wrapped(schema) if _is_wrapped(schema) else schema)


def value_in(text: str, schema: JSONMapping) -> object:
    """The value that an answer gives. Raises ValueUnfit where it is none of the schema."""
    from jsonschema import Draft202012Validator
    from referencing import Registry

    try:
        value: object = json.loads(text)
    except ValueError:
        raise ValueUnfit(f"It is not JSON: {_shown(text)}") from None
    if _is_wrapped(schema):
        if not isinstance(value, dict) or _WRAP not in value:
            raise ValueUnfit(f"It has no `{_WRAP}`: {_shown(text)}")
        value = value[_WRAP]
    # Without a registry of its own, jsonschema would fetch what a reference names.
    judge = Draft202012Validator(schema, registry=Registry(), format_checker=Draft202012Validator.FORMAT_CHECKER)
    for error in judge.iter_errors(value):
        raise ValueUnfit(f"{error.json_path}: {_shown(error.message)}")
    return value


def _is_wrapped(schema: JSONMapping) -> bool:
    return schema.get("type") != "object"


def _wrapped(schema: JSONMapping) -> JSONObject:
    inner = {name: value for name, value in schema.items() if name != "$defs"}
    outer: JSONObject = {"type": "object", "properties": {_WRAP: inner}, "required": [_WRAP]}
    return {**outer, "$defs": schema["$defs"]} if "$defs" in schema else outer


def _taken(schema: object) -> object:
    """The part of a schema that the provider takes."""
    return _project_object(schema) if isinstance(schema, Mapping) else schema


def _project_object(schema: JSONMapping) -> JSONObject:
    kept: JSONObject = {}
    told: JSONObject = {}
    for name, value in schema.items():
        if name in _TABLES and isinstance(value, Mapping):
            kept[name] = {key: _taken(one) for key, one in value.items()}
        elif name in _LISTS or name == "oneOf":
            kept["anyOf" if name == "oneOf" else name] = [_taken(one) for one in value]
        elif name == "items":
            kept[name] = _taken(value)
        elif name in _TAKEN or (name == "format" and value in _FORMATS):
            kept[name] = value
        elif name not in ("$schema", "$id"):
            told[name] = value
    if kept.get("type") == "object":
        kept["additionalProperties"] = False
    if told:
        rest = json.dumps(told, ensure_ascii=False)
        kept["description"] = f"{kept.get('description', '')} It has to keep to: {rest}".strip()
    return kept


def _shown(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _MAX_SHOWN_CHARS else f"{line[: _MAX_SHOWN_CHARS - 1]}…"
