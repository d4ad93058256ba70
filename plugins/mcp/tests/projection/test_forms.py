"""What becomes of each construct that servers write, and how arguments come back."""

from typing import Any

import pytest

from ferrule.errors import ArgumentsInvalid
from ferrule.schema.arguments import prepare
from ferrule.schema.rules import check
from ferrule_mcp.projection import Projection, project, translate_arguments
from ferrule_testkit.projections.expression import express

Schema = dict[str, Any]
TEXT = {"type": "string"}
WHOLE = {"type": "integer"}


def project_value(value: Any, required: bool = False, **others: Any) -> Projection:
    """A tool with the one argument `x`."""
    schema = {"type": "object", "properties": {"x": value}, "required": ["x"] if required else [], **others}
    projection = project({"name": "t", "description": "Does it.", "inputSchema": schema}, "t")
    assert [one for one in check(projection.schema, name="t") if one.severity == "error"] == []
    return projection


def form_of(value: Any, **others: Any) -> Schema:
    """What the argument becomes, without words."""
    form: Schema = without_words(project_value(value, **others).schema["parameters"]["properties"]["x"])
    return form


def without_words(form: Any) -> Any:
    """A form without its descriptions."""
    if isinstance(form, dict):
        return {key: without_words(inner) for key, inner in form.items() if key != "description"}
    return form


def send(projection: Projection, arguments: Schema) -> Schema:
    """What the server gets of arguments that a model writes."""
    return translate_arguments(projection.translation, prepare(arguments, projection.schema["parameters"]))


@pytest.mark.parametrize(
    ("value", "form"),
    [
        ({"anyOf": [TEXT, {"type": "null"}], "default": None}, TEXT),
        ({"type": ["integer", "null"], "default": None}, WHOLE),
        ({"anyOf": [{"type": "string", "enum": ["a"]}, {"const": "b"}]}, {"type": "string", "enum": ["a", "b"]}),
        ({"anyOf": [WHOLE, {"type": "number"}]}, {"type": "number"}),
        ({"anyOf": [{**WHOLE, "minimum": 1}, {**WHOLE, "minimum": 3}]}, {**WHOLE, "minimum": 1}),
        ({"allOf": [{**WHOLE, "minimum": 1}, {"minimum": 3}]}, {**WHOLE, "minimum": 3}),
        ({"allOf": [{"$ref": "#/$defs/name"}], "description": "Its own."}, TEXT),
        ({"$ref": "#/$defs/name"}, TEXT),
        ({"const": 5}, {**WHOLE, "enum": [5]}),
        ({"enum": ["a", "b"]}, {"type": "string", "enum": ["a", "b"]}),
        ({"enum": [1, "1", None]}, {"type": "string", "enum": ['"1"', "1", "null"]}),
        ({**WHOLE, "exclusiveMinimum": 0}, {**WHOLE, "minimum": 1}),
        ({**WHOLE, "minimum": 0, "exclusiveMinimum": True}, {**WHOLE, "minimum": 1}),
        ({**TEXT, "pattern": "^a", "format": "uri", "title": "X"}, TEXT),
        ({"properties": {"a": TEXT}}, {"type": "object", "properties": {"a": TEXT}}),
        ({"type": "object", "additionalProperties": TEXT}, {"type": "object", "properties": {}}),
        ({"type": "array"}, {"type": "array", "items": TEXT}),
        (
            {"type": "array", "prefixItems": [WHOLE, WHOLE], "maxItems": 2},
            {"type": "array", "items": WHOLE, "maxItems": 2},
        ),
        ({"type": "array", "items": [WHOLE], "additionalItems": False}, {"type": "array", "items": WHOLE}),
        ({"type": "array", "items": False}, {"type": "array", "maxItems": 0, "items": TEXT}),
        ({"anyOf": [TEXT, {"type": "object"}]}, TEXT),
        (True, TEXT),
        ({}, TEXT),
    ],
)
def test_a_construct_becomes_what_every_provider_takes(value: Any, form: Schema) -> None:
    assert form_of(value, **{"$defs": {"name": TEXT}}) == form


@pytest.mark.parametrize(
    ("value", "written", "sent"),
    [
        ({"anyOf": [TEXT, {"type": "object"}]}, '{"a": [1]}', {"a": [1]}),
        ({"anyOf": [TEXT, {"type": "object"}]}, "plain", "plain"),
        ({"anyOf": [TEXT, {"type": "object"}]}, "[1]", "[1]"),
        ({"anyOf": [TEXT, {"type": "object"}]}, '"quoted"', '"quoted"'),
        ({"anyOf": [TEXT, {"type": "object"}]}, '"{}"', "{}"),
        ({"type": ["string", "integer"]}, "5", 5),
        ({"type": ["string", "integer"]}, '"5"', "5"),
        ({"type": ["string", "integer"]}, "5.5", "5.5"),
        ({"type": ["string", "boolean"]}, "true", True),
        ({"type": ["array", "object"]}, "[1]", [1]),
        ({}, "null", None),
        ({}, "3", 3),
        ({}, "three", "three"),
        ({"enum": [1, "1", None]}, "1", 1),
        ({"enum": [1, "1", None]}, '"1"', "1"),
        ({"enum": [1, "1", None]}, "null", None),
        ({**TEXT, "default": "x"}, '""', ""),
        ({**TEXT, "default": "x"}, '"\\"\\""', '""'),
        ({"type": "array", "items": {"type": ["string", "null"]}}, ["null", '"null"', "a"], [None, "null", "a"]),
    ],
)
def test_a_text_is_read_as_what_it_stands_for(value: Any, written: Any, sent: Any) -> None:
    assert send(project_value(value), {"x": written}) == {"x": sent}


def test_a_text_that_is_no_json_of_the_kind_is_refused_with_its_place() -> None:
    projection = project_value({"type": "array", "items": {"type": ["array", "object"]}})
    with pytest.raises(ArgumentsInvalid, match=r"x/1: expected JSON \(array or object\), written as text"):
        send(projection, {"x": ["[]", "5"]})


def test_a_required_argument_that_may_be_null_is_null_where_it_is_left_out() -> None:
    projection = project_value({"type": ["integer", "null"]}, required=True)
    assert "required" not in projection.schema["parameters"]
    assert send(projection, {}) == {"x": None}
    assert send(projection, {"x": 5}) == {"x": 5}


def test_a_required_text_that_may_be_null_stays_required_since_the_host_leaves_out_what_is_empty() -> None:
    projection = project_value({"type": ["string", "null"]}, required=True)
    assert projection.schema["parameters"]["required"] == ["x"]
    assert send(projection, {"x": ""}) == {"x": ""}
    assert send(projection, {"x": "null"}) == {"x": None}


def test_null_that_is_not_the_default_is_said_in_an_argument_of_its_own() -> None:
    projection = project_value({"type": ["object", "null"], "properties": {"a": TEXT}})
    assert list(projection.schema["parameters"]["properties"]) == ["x", "other_arguments"]
    assert send(projection, {"other_arguments": '{"x": null}'}) == {"x": None}
    assert send(projection, {}) == {}


def test_arguments_without_a_name_come_in_as_an_object_where_the_server_takes_them() -> None:
    projection = project_value(TEXT, additionalProperties=True)
    assert send(projection, {"x": "a", "other_arguments": '{"y": 1}'}) == {"x": "a", "y": 1}


def test_arguments_of_a_schema_that_is_elsewhere_can_be_sent() -> None:
    projection = project({"name": "t", "inputSchema": {"$ref": "https://ferrule.invalid/schema.json"}}, "t")
    assert send(projection, {"other_arguments": '{"y": 1}'}) == {"y": 1}


def test_objects_that_a_constant_tells_apart_become_one_that_says_when_each_property_is_meant() -> None:
    def shape(kind: str, **properties: Schema) -> Schema:
        tagged = {"type": {"const": kind}, **properties}
        return {"type": "object", "properties": tagged, "required": list(tagged), "additionalProperties": False}

    projection = project_value({"oneOf": [shape("file", path=TEXT), shape("page", url=TEXT, depth=WHOLE)]})
    form = projection.schema["parameters"]["properties"]["x"]
    assert form["required"] == ["type"]
    assert form["properties"]["type"]["enum"] == ["file", "page"]
    assert form["properties"]["url"]["description"] == "With type page."
    assert "Which values go together is checked by the server alone: x." in projection.lost


def test_a_circle_of_references_ends_in_a_text_that_says_its_form() -> None:
    node = {
        "type": "object",
        "properties": {"name": TEXT, "children": {"type": "array", "items": {"$ref": "#/$defs/node"}}},
    }
    definitions: Schema = {"$defs": {"node": node}}
    projection = project_value({"$ref": "#/$defs/node"}, **definitions)
    children = projection.schema["parameters"]["properties"]["x"]["properties"]["children"]
    assert children["items"]["type"] == "string"
    tree = {"x": {"name": "a", "children": ['{"name": "b", "children": [{}]}']}}
    assert send(projection, tree) == {"x": {"name": "a", "children": [{"name": "b", "children": [{}]}]}}


def test_names_that_a_provider_refuses_are_changed_and_come_back() -> None:
    names = ["x-loc-lat", "x.loc.lat", "x_loc_lat", "übung", "9lives", "camelCase"]
    schema = {"type": "object", "properties": dict.fromkeys(names, TEXT), "required": ["übung"]}
    projection = project({"name": "t", "inputSchema": schema}, "t")
    parameters = projection.schema["parameters"]
    assert list(parameters["properties"]) == [
        "x_loc_lat_2",
        "x_loc_lat_3",
        "x_loc_lat",
        "bung",
        "p_9lives",
        "camelCase",
    ]
    assert parameters["required"] == ["bung"]
    assert send(projection, {shown: shown for shown in parameters["properties"]}) == dict(
        zip(names, parameters["properties"], strict=True)
    )


def test_what_is_dropped_is_said_once_in_the_description_and_once_in_the_losses() -> None:
    projection = project_value({**TEXT, "pattern": "^[a-z]+$", "description": "A word.", "default": "on"})
    assert projection.schema["parameters"]["properties"]["x"]["description"] == "A word. Matches ^[a-z]+$. Default: on."
    assert projection.lost == ["pattern is checked by the server alone: x."]


def test_conditions_on_all_arguments_are_said_in_the_description_of_the_tool() -> None:
    projection = project_value(TEXT, dependentRequired={"x": ["y"]})
    assert projection.schema["description"].startswith("Does it.\n\nIt must also fit: ")
    assert projection.lost == ["dependentRequired is checked by the server alone: the arguments."]


def test_a_long_description_is_cut_at_a_sentence_and_the_whole_is_kept() -> None:
    long = "A sentence that says something. " * 60
    projection = project({"name": "t", "description": long, "inputSchema": {"type": "object"}}, "t")
    shown = projection.schema["description"]
    assert 900 < len(shown) <= 1024
    assert shown.endswith("something.…")
    assert projection.texts == {"": long.strip()}
    assert projection.lost == ["Descriptions are cut: the tool."]


def test_common_indentation_and_hidden_characters_go() -> None:
    tool = {"name": "t", "description": "One\n        two\u202e\n        three\r", "inputSchema": {"type": "object"}}
    assert project(tool, "t").schema["description"] == "One\ntwo\nthree"


def test_the_arguments_of_a_wide_tool_are_folded_until_they_fit() -> None:
    properties = {f"argument_{number}": {**TEXT, "description": "Words. " * 20} for number in range(300)}
    schema = {"type": "object", "properties": properties, "required": ["argument_299"]}
    projection = project({"name": "t", "inputSchema": schema}, "t")
    assert [one for one in check(projection.schema) if one.severity == "error"] == []
    shown = projection.schema["parameters"]
    assert shown["required"] == ["argument_299"]
    written = express(projection.translation, shown, {"argument_0": "a", "argument_200": "b", "argument_299": "c"})
    assert send(projection, written) == {"argument_0": "a", "argument_200": "b", "argument_299": "c"}


def test_descriptions_go_before_anything_that_constrains() -> None:
    properties = {f"argument_{number}": {**WHOLE, "minimum": 1, "description": "Words. " * 40} for number in range(50)}
    projection = project({"name": "t", "inputSchema": {"type": "object", "properties": properties}}, "t")
    shown = projection.schema["parameters"]["properties"]
    assert [without_words(form) for form in shown.values()] == [{**WHOLE, "minimum": 1}] * 50
    assert len(projection.texts) == 50


def test_more_arguments_than_names_fit_become_one() -> None:
    names = [f"argument_{number}" for number in range(2000)]
    schema = {"type": "object", "properties": dict.fromkeys(names, TEXT), "required": names}
    projection = project({"name": "t", "inputSchema": schema}, "t")
    assert list(projection.schema["parameters"]["properties"]) == ["arguments"]
    assert send(projection, {"arguments": '{"argument_7": "a"}'}) == {"argument_7": "a"}


@pytest.mark.parametrize("schema", [{}, {"$schema": "http://json-schema.org/draft-07/schema#"}])
def test_a_schema_that_says_nothing_takes_any_arguments(schema: dict[str, Any]) -> None:
    projection = project({"name": "read", "inputSchema": schema}, "read")
    assert list(projection.schema["parameters"]["properties"]) == ["other_arguments"]
    assert translate_arguments(projection.translation, {"other_arguments": '{"paths": ["a"]}'}) == {"paths": ["a"]}
    assert translate_arguments(projection.translation, {}) == {}
