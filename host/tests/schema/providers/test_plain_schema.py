"""The plain form of schemas: what is in it, and what becomes of arguments that fit it."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from referencing import Registry

from ferrule.errors import ArgumentsInvalid
from ferrule.schema.arguments import prepare
from ferrule.schema.providers import PlainSchema, plain
from ferrule_testkit.effort import examples
from ferrule_testkit.schemas.agentkit import faults
from ferrule_testkit.schemas.tool_schemas import SHIPPED, arguments_for, tool_schemas

TEXT = {"type": "string", "description": "A text."}
OPEN = {"type": "object", "description": "Anything.", "properties": {}}
THOROUGH = settings(deadline=None, database=None, max_examples=examples(300), suppress_health_check=list(HealthCheck))


def tool(properties: dict[str, Any], **top: Any) -> dict[str, Any]:
    return {
        "name": "almanac",
        "description": "Looks.",
        "parameters": {"type": "object", "properties": properties, **top},
    }


@pytest.mark.parametrize(
    ("schema", "fault"),
    [
        ({"type": "object", "additionalProperties": False}, "#: additionalProperties not permitted for object"),
        ({"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}}, "#/properties/n: minimum "),
        ({"type": "object", "properties": {"n": {"type": "string", "format": "uri"}}}, "#/properties/n: format "),
        ({"type": "object", "properties": {"n": {"type": ["string", "null"]}}}, "#/properties/n: type must be one"),
        ({"type": "object", "properties": {"n": {"type": "integer", "enum": [1]}}}, "#/properties/n: enum "),
        ({"type": "object", "properties": {"n": {"type": "array"}}}, "#/properties/n/items: type must be one"),
        ({"type": "object", "required": ["n"]}, "#: required has 'n'"),
        ({"type": "object", "properties": {"n": {"anyOf": [{"type": "string"}]}}}, "#/properties/n: type must be one"),
    ],
)
def test_the_rule_of_this_test_refuses_what_agentkit_refuses(schema: dict[str, Any], fault: str) -> None:
    found = list(faults(schema))
    assert found
    assert found[0].startswith(fault)


@pytest.mark.parametrize("name", SHIPPED)
def test_every_shipped_tool_has_a_plain_form_that_agentkit_takes(name: str) -> None:
    form = plain(SHIPPED[name])
    assert form.keys() == {"name", "description", "parameters"}
    assert form["name"] == name
    assert list(faults(form["parameters"])) == []
    assert form["parameters"]["properties"].keys() == SHIPPED[name]["parameters"]["properties"].keys()


@pytest.mark.slow
@pytest.mark.process
@THOROUGH
@given(tool_schemas())
def test_any_schema_within_the_rules_has_a_plain_form_that_agentkit_takes(schema: dict[str, Any]) -> None:
    before = json.dumps(schema)
    form = plain(schema)
    assert list(faults(form["parameters"])) == []
    assert json.dumps(schema) == before


@pytest.mark.slow
@pytest.mark.process
@THOROUGH
@given(st.data())
def test_what_fits_the_plain_form_is_read_or_refused_with_its_place(data: st.DataObject) -> None:
    schema = data.draw(st.one_of(tool_schemas(), st.sampled_from(list(SHIPPED.values()))))
    written = PlainSchema(schema)
    arguments = data.draw(arguments_for(written.form))
    try:
        read = written.read(arguments)
    except ArgumentsInvalid as error:
        refusal = error.message
        read = None
    assert read is not None or "written as text" in refusal
    assert json.loads(json.dumps(read)) == read
    assert written.translation or read == arguments


@pytest.mark.slow
@pytest.mark.process
@THOROUGH
@given(st.data())
def test_all_arguments_of_a_tool_can_be_said_in_its_plain_form(data: st.DataObject) -> None:
    schema = data.draw(st.one_of(tool_schemas(), st.sampled_from(list(SHIPPED.values()))))
    arguments = data.draw(arguments_for(schema))
    known = schema["parameters"]["properties"]
    arguments = {name: value for name, value in arguments.items() if name in known}
    if not fits(arguments, schema["parameters"]) or not can_be_said(schema):
        return
    written = PlainSchema(schema)
    said = say(arguments, written.translation)
    assert fits(said, written.form["parameters"]) is True, said
    assert written.read(said) == arguments


def fits(arguments: object, parameters: dict[str, Any]) -> bool | None:
    """Whether the arguments are valid; None where the schema refers to what is not there, or to itself for ever."""
    try:
        return Draft202012Validator(parameters, registry=Registry()).is_valid(arguments)
    except Exception:
        return None


def can_be_said(schema: dict[str, Any]) -> bool:
    """Whether nothing is in it that excludes what fits it: an empty text of an `enum`, or a property that no one names.

    An object of named properties has these alone in the plain form, and a reference brings keywords from elsewhere.
    """
    text = json.dumps(schema["parameters"])
    return not any(word in text for word in ('"$ref"', '"allOf"', '""'))


def say(value: Any, translation: Any) -> Any:
    """The value as a model would send it, by what the translation will undo."""
    for text, meant in translation.get("values", ()):
        if meant == value and isinstance(meant, bool) == isinstance(value, bool):
            return text
    if "json" in translation:
        return json.dumps(value)
    if isinstance(value, list):
        return [say(item, translation.get("items", {})) for item in value]
    if not isinstance(value, dict):
        return value
    shown = {how.get("name", name): (name, how) for name, how in translation.get("properties", {}).items()}
    said = {}
    for name, inner in value.items():
        new, how = shown.get(name, (name, {}))
        said[new] = say(inner, how)
    return said


@pytest.mark.parametrize(
    ("schema", "sent", "meant"),
    [
        pytest.param(tool({"data": OPEN}), {"data": '{"a": [1]}'}, {"data": {"a": [1]}}, id="an-object-of-anything"),
        pytest.param(tool({"n": {"type": "integer", "enum": [1, 2]}}), {"n": "2"}, {"n": 2}, id="an-enum-of-integers"),
        pytest.param(tool({"b": {"type": "boolean", "const": True}}), {"b": "true"}, {"b": True}, id="a-constant"),
        pytest.param(tool({"l": {"type": "array"}}), {"l": ["1", "a"]}, {"l": [1, "a"]}, id="an-array-of-anything"),
        pytest.param(tool({"a b": TEXT}), {"a_b": "x"}, {"a b": "x"}, id="a-name-that-a-provider-refuses"),
        pytest.param(tool({}), {}, {}, id="no-parameters"),
        pytest.param(
            tool({"f": {"type": "object", "properties": {"n": {"type": "integer"}, "t": TEXT}, "required": ["t"]}}),
            {"f": {"n": None, "t": ""}},
            {"f": {"t": ""}},
            id="null-for-what-a-strict-model-leaves-out",
        ),
        pytest.param(
            tool(
                {"where": {"type": "object", "$ref": "#/$defs/where"}},
                **{"$defs": {"where": {"properties": {"at": {"anyOf": [{"type": "string"}, {"type": "integer"}]}}}}},
            ),
            {"where": {"at": "7"}},
            {"where": {"at": 7}},
            id="a-union",
        ),
    ],
)
def test_arguments_in_the_plain_form_are_those_that_the_tool_takes(
    schema: dict[str, Any], sent: dict[str, Any], meant: dict[str, Any]
) -> None:
    written = PlainSchema(schema)
    assert list(faults(written.form["parameters"])) == []
    assert set(sent) <= written.form["parameters"]["properties"].keys()
    assert prepare(written.read(sent), schema["parameters"]) == meant


@pytest.mark.parametrize(
    ("keywords", "words"),
    [
        ({"type": "integer", "minimum": 1, "maximum": 20, "default": 10}, "From 1 to 20. Default: 10."),
        ({"type": "integer", "minimum": 1}, "At least 1."),
        ({"type": "number", "exclusiveMinimum": 0, "maximum": 1.5, "multipleOf": 0.5},
         "At most 1.5. More than 0. A multiple of 0.5."),
        ({"type": "string", "format": "uri"}, "A URI."),
        ({"type": "string", "format": "ipv4"}, "Format: ipv4."),
        ({"type": "string", "minLength": 1}, "At least 1 character."),
        ({"type": "string", "minLength": 2, "maxLength": 5, "pattern": "^a"}, "From 2 to 5 characters. Matches ^a."),
        ({"type": "array", "items": {"type": "string"}, "maxItems": 3, "uniqueItems": True},
         "At most 3 items. No item twice."),
        ({"type": "string", "default": ""}, 'Default: "".'),
        ({"type": "string", "not": {"const": "x"}}, 'It must also fit: {"not":{"const":"x"}}.'),
        ({"type": "string", "anyOf": [{"minLength": 1}]}, 'It must also fit: {"anyOf":[{"minLength":1}]}.'),
        ({"type": "string"}, None),
    ],
)  # fmt: skip
def test_what_is_lost_is_said_in_the_description(keywords: dict[str, Any], words: str | None) -> None:
    alone = plain(tool({"a": keywords}))["parameters"]["properties"]["a"]
    assert alone.get("description") == words
    described = plain(tool({"a": {**keywords, "description": "It is so"}}))["parameters"]["properties"]["a"]
    assert described["description"] == (f"It is so. {words}" if words else "It is so")


def test_what_concerns_all_arguments_is_said_of_the_tool() -> None:
    form = plain(tool({"a": TEXT, "b": TEXT}, anyOf=[{"required": ["a"]}], additionalProperties=False))
    assert form["description"] == 'Looks.\n\nThe arguments must also fit: {"anyOf":[{"required":["a"]}]}'


def test_a_default_that_the_description_has_is_not_said_again() -> None:
    form = plain(tool({"n": {"type": "integer", "description": "How many (default 3).", "default": 3}}))
    assert form["parameters"]["properties"]["n"]["description"] == "How many (default 3)."


def test_the_losses_are_the_places_where_a_call_has_to_be_translated() -> None:
    schema = tool(
        {"data": OPEN, "n": {"type": "integer", "enum": [1]}, "a b": TEXT, "m": {"type": "integer", "minimum": 1}}
    )
    found = {loss.pointer.removeprefix("/parameters/properties/"): loss for loss in plain.losses(schema)}
    assert found.keys() == {"data", "n", "a b"}
    assert not any(loss.refused for loss in found.values())
    assert "text that holds JSON" in found["data"].message
    assert "a_b" in found["a b"].message


def test_a_text_that_holds_no_json_is_refused_with_its_place() -> None:
    with pytest.raises(ArgumentsInvalid, match="data: expected a JSON object, written as text: "):
        PlainSchema(tool({"data": OPEN})).read({"data": "{"})
