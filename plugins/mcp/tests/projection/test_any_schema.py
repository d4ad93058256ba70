"""Schemas that no server has listed yet: what fits them can be said in ours, and the other way round."""

from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from ferrule.errors import ArgumentsInvalid
from ferrule.schema.arguments import prepare
from ferrule_mcp.projection import project, translate_arguments
from ferrule_testkit.effort import examples
from ferrule_testkit.projections.accounts import is_told
from ferrule_testkit.projections.arguments import arguments_for, drop_defaults, projected_arguments
from ferrule_testkit.projections.expression import express, is_same

pytestmark = pytest.mark.process

Schema = dict[str, Any]
_NAMES = st.sampled_from(["a", "b-c", "b_c", "other_arguments", "type"])
_SCALARS: st.SearchStrategy[Schema] = st.sampled_from(
    [
        {"type": "string"},
        {"type": "string", "minLength": 1},
        {"type": "string", "default": "x"},
        {"type": "string", "enum": ["", "a", "null"]},
        {"type": "integer", "minimum": 1},
        {"type": "integer", "exclusiveMinimum": 0},
        {"type": "number", "maximum": 10},
        {"type": "boolean"},
        {"type": "null"},
        {"type": ["integer", "null"]},
        {"type": ["array", "string"], "items": {"type": "integer"}},
        {"enum": [1, "1", None, True]},
        {"const": "file"},
        {"const": 5},
        {"$ref": "#/$defs/text"},
        {"$ref": "#/$defs/tree"},
        {},
    ]
)
_NULL_BY_DEFAULT: Schema = {"type": ["string", "null"], "default": None}
_DEFINITIONS = {
    "text": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    "tree": {
        "type": "object",
        "properties": {"value": {"type": "integer"}, "next": {"anyOf": [{"$ref": "#/$defs/tree"}, {"type": "null"}]}},
        "additionalProperties": False,
    },
}


@st.composite
def objects(draw: st.DrawFn, inner: st.SearchStrategy[Schema]) -> Schema:
    """An object that names its properties, and has no others."""
    properties = draw(st.dictionaries(_NAMES, inner | st.just(_NULL_BY_DEFAULT), max_size=3))
    required = [name for name in properties if draw(st.booleans())]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _extend(inner: st.SearchStrategy[Schema]) -> st.SearchStrategy[Schema]:
    branches = st.lists(inner, min_size=1, max_size=3)
    return (
        objects(inner)
        | st.builds(lambda items: {"type": "array", "items": items}, inner)
        | st.builds(lambda places: {"type": "array", "prefixItems": places, "items": False}, branches)
        | st.builds(lambda one: {"anyOf": one}, branches)
        | st.builds(lambda one: {"oneOf": one, "description": "One of them."}, branches)
        | st.builds(lambda one: {"allOf": [one]}, inner)
        | st.builds(lambda one: {"type": "object", "additionalProperties": one}, inner)
    )


_VALUES: st.SearchStrategy[Schema] = st.recursive(_SCALARS, _extend, max_leaves=6)
_SCHEMAS = st.builds(lambda one: {**one, "$defs": _DEFINITIONS}, objects(_VALUES))


@settings(max_examples=examples(500))
@given(data=st.data(), schema=_SCHEMAS)
def test_what_fits_any_schema_can_be_said_in_ours(data: st.DataObject, schema: Schema) -> None:
    projection = project({"name": "t", "inputSchema": schema}, "t")
    parameters = projection.schema["parameters"]
    arguments = data.draw(arguments_for(schema))
    assume(Draft202012Validator(schema).is_valid(arguments))
    written = express(projection.translation, parameters, arguments)
    translated = translate_arguments(projection.translation, prepare(written, parameters))
    assert is_same(drop_defaults(translated, schema), drop_defaults(arguments, schema)), (arguments, written)


@settings(max_examples=examples(500))
@given(data=st.data(), schema=_SCHEMAS)
def test_what_fits_ours_fits_any_schema_or_the_loss_is_told(data: st.DataObject, schema: Schema) -> None:
    projection = project({"name": "t", "inputSchema": schema}, "t")
    parameters = projection.schema["parameters"]
    written = data.draw(projected_arguments(parameters, projection.translation))
    try:
        translated = translate_arguments(projection.translation, prepare(written, parameters))
    except ArgumentsInvalid:
        return
    for error in Draft202012Validator(schema).iter_errors(translated):
        assert is_told(error, projection.details), (error.message, written, projection.lost)
