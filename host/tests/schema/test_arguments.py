"""A call's arguments against the schema: what is dropped, what is fixed, and what is said about what is wrong."""

import socket
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from ferrule.errors import ArgumentsInvalid, SchemaInvalid
from ferrule.schema.arguments import check, needs_jsonschema, prepare, without_fillers
from ferrule_testkit.effort import examples

QUICK = settings(deadline=None, database=None, max_examples=examples(60))
TEXT = {"type": "string"}
COUNT = {"type": "integer", "minimum": 1}


def parameters(properties: dict[str, Any], *required: str, **others: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required), **others}


def findings(arguments: dict[str, Any], schema: dict[str, Any]) -> list[str]:
    with pytest.raises(ArgumentsInvalid) as caught:
        prepare(arguments, schema)
    return caught.value.findings


# What strict mode makes a model fill in.


@pytest.mark.parametrize(
    ("value", "schema"),
    [
        pytest.param(None, TEXT, id="null"),
        pytest.param("", TEXT, id="empty-text"),
        pytest.param([], {"type": "array"}, id="empty-array"),
        pytest.param(0, COUNT, id="0-below-minimum"),
        pytest.param(0.0, COUNT, id="0.0-below-minimum"),
        pytest.param(-0.0, {"type": "number", "minimum": 0.5}, id="negative-zero-below-minimum"),
        pytest.param(0, {"type": "integer", "exclusiveMinimum": 0}, id="0-at-exclusive-minimum"),
        pytest.param(None, COUNT, id="null-where-a-number-belongs"),
        pytest.param("", COUNT, id="empty-text-where-a-number-belongs"),
    ],
)
def test_an_optional_argument_that_is_a_filler_is_dropped(value: Any, schema: dict[str, Any]) -> None:
    assert prepare({"a": value, "b": "x"}, parameters({"a": schema, "b": TEXT})) == {"b": "x"}


@pytest.mark.parametrize(
    ("value", "schema"),
    [
        pytest.param(False, {"type": "boolean"}, id="false"),
        pytest.param(False, {"type": "boolean", "minimum": 1}, id="false-with-a-minimum"),
        pytest.param(0, {"type": "integer"}, id="0-without-limits"),
        pytest.param(0, {"type": "integer", "minimum": 0}, id="0-at-minimum"),
        pytest.param(0, {"type": "integer", "minimum": -5, "maximum": -1}, id="0-above-maximum"),
        pytest.param({}, {"type": "object"}, id="empty-object"),
        pytest.param(" ", TEXT, id="blank-text"),
        pytest.param([""], {"type": "array", "items": TEXT}, id="array-of-empty-text"),
    ],
)
def test_an_optional_argument_that_could_be_meant_is_kept(value: Any, schema: dict[str, Any]) -> None:
    assert without_fillers({"a": value}, parameters({"a": schema})) == {"a": value}


@pytest.mark.parametrize("value", [None, "", [], 0], ids=repr)
def test_a_required_argument_is_never_dropped(value: Any) -> None:
    schema = parameters({"a": {"type": "object"}}, "a")
    assert without_fillers({"a": value}, schema) == {"a": value}
    (finding,) = findings({"a": value}, schema)
    assert finding.startswith("a: expected object, got ")


@pytest.mark.parametrize("value", [None, "", [], 0], ids=repr)
def test_a_nested_value_is_never_dropped(value: Any) -> None:
    inner = {"type": "object", "properties": {"b": COUNT}}
    assert without_fillers({"a": {"b": value}}, parameters({"a": inner})) == {"a": {"b": value}}
    (finding,) = findings({"a": {"b": value}}, parameters({"a": inner}))
    assert finding.startswith("a/b: expected ")


def test_what_is_dropped_is_not_taken_out_of_the_callers_arguments() -> None:
    arguments = {"a": None}
    assert without_fillers(arguments, parameters({"a": TEXT})) == {}
    assert arguments == {"a": None}


# Whole floats.


def test_a_whole_float_becomes_an_integer_wherever_the_schema_has_one() -> None:
    schema = parameters(
        {
            "a": {"type": "integer"},
            "b": {"type": "array", "items": {"type": "integer"}},
            "c": {"type": "object", "properties": {"d": {"type": "integer"}, "e": {"type": "number"}}},
            "f": {"type": "number"},
        }
    )
    arguments = {"a": 5.0, "b": [1.0, 2, -0.0], "c": {"d": 1e3, "e": 2.0, "g": 3.0}, "f": 4.0}
    expected = {"a": 5, "b": [1, 2, 0], "c": {"d": 1000, "e": 2.0, "g": 3.0}, "f": 4.0}
    assert repr(prepare(arguments, schema)) == repr(expected)


@pytest.mark.parametrize("value", [1.5, 1e-9, True, "1"], ids=repr)
def test_what_is_no_whole_number_is_no_integer(value: Any) -> None:
    (finding,) = findings({"a": value}, parameters({"a": {"type": "integer"}}))
    assert finding.startswith("a: expected integer, got ")


# Unknown arguments.


def test_an_argument_that_the_schema_does_not_name_is_refused_with_those_that_it_does() -> None:
    schema = parameters({"query": TEXT, "count": COUNT})
    assert findings({"querry": "x"}, schema) == ["querry: there is no such argument; there are query, count"]
    assert findings({"x": 1}, parameters({})) == ["x: there is no such argument; there are none"]


def test_an_unknown_argument_without_a_value_is_dropped_like_any_other_filler() -> None:
    assert prepare({"unknown": None, "other": ""}, parameters({})) == {}


def test_a_schema_that_speaks_of_additional_properties_decides_itself() -> None:
    assert prepare({"x": 1}, parameters({}, additionalProperties={"type": "integer"})) == {"x": 1}
    assert prepare({"x": 1}, parameters({}, additionalProperties=True)) == {"x": 1}
    (finding,) = findings({"x": 1}, parameters({}, additionalProperties=False))
    assert finding.startswith("the arguments: Additional properties are not allowed ('x' was unexpected)")


def test_a_nested_object_takes_what_its_schema_does_not_name() -> None:
    schema = parameters({"a": {"type": "object", "properties": {"b": TEXT}}})
    assert prepare({"a": {"c": 1}}, schema) == {"a": {"c": 1}}


# What is said, keyword by keyword: the place, what came, and what was expected.


@pytest.mark.parametrize(
    ("value", "schema", "finding"),
    [
        pytest.param("5", {"type": "integer"}, "a: expected integer, got string '5'", id="type-string"),
        pytest.param(5, TEXT, "a: expected string, got integer 5", id="type-integer"),
        pytest.param(2.5, TEXT, "a: expected string, got number 2.5", id="type-number"),
        pytest.param(True, {"type": "number"}, "a: expected number, got boolean true", id="type-boolean"),
        pytest.param({"b": 1}, TEXT, "a: expected string, got object", id="type-object"),
        pytest.param([1], TEXT, "a: expected string, got array", id="type-array"),
        pytest.param("x" * 99, COUNT, f"a: expected integer, got string '{'x' * 59}…", id="type-long-text"),
        pytest.param("é\n", COUNT, "a: expected integer, got string 'é\\n'", id="type-text-on-one-line"),
        pytest.param([None], {"type": "array", "items": TEXT}, "a/0: expected string, got null", id="items"),
        pytest.param(
            [["x", 5]],
            {"type": "array", "items": {"type": "array", "items": TEXT}},
            "a/0/1: expected string, got integer 5",
            id="items-nested",
        ),
        pytest.param(
            {"b": {"c": 0}},
            {"type": "object", "properties": {"b": {"type": "object", "properties": {"c": COUNT}}}},
            "a/b/c: expected at least 1, got 0",
            id="properties-nested",
        ),
        pytest.param(
            {},
            {"type": "object", "properties": {"b": COUNT}, "required": ["b"]},
            "a/b: it is required and missing, expected integer",
            id="required-nested",
        ),
        pytest.param("y", {"type": "string", "enum": ["x", "é"]}, "a: expected one of 'x', 'é', got 'y'", id="enum"),
        pytest.param(
            3,
            {"type": "integer", "enum": [1, None, True, "x"]},
            "a: expected one of 1, null, true, 'x', got 3",
            id="enum-mixed",
        ),
        pytest.param([1], {"type": "array", "enum": [[2]]}, "a: expected one of [2], got array", id="enum-of-arrays"),
        pytest.param(-1, COUNT, "a: expected at least 1, got -1", id="minimum"),
        pytest.param(9.5, {"type": "number", "maximum": 9}, "a: expected at most 9, got 9.5", id="maximum"),
        pytest.param(
            1, {"type": "number", "exclusiveMinimum": 1.5}, "a: expected more than 1.5, got 1", id="exclusiveMinimum"
        ),
        pytest.param(
            2, {"type": "number", "exclusiveMaximum": 2}, "a: expected less than 2, got 2", id="exclusiveMaximum"
        ),
        pytest.param(
            "é", {"type": "string", "minLength": 2}, "a: expected at least 2 characters, got 1", id="minLength"
        ),
        pytest.param(
            "abc", {"type": "string", "maxLength": 2}, "a: expected at most 2 characters, got 3", id="maxLength"
        ),
        pytest.param([1], {"type": "array", "minItems": 2}, "a: expected at least 2 items, got 1", id="minItems"),
        pytest.param([1, 2], {"type": "array", "maxItems": 1}, "a: expected at most 1 items, got 2", id="maxItems"),
        pytest.param("x", {"type": "string", "pattern": "^y"}, "a: 'x' does not match '^y'", id="by-jsonschema"),
        pytest.param(
            "x" * 999,
            {"type": "string", "pattern": "^y"},
            f"a: '{'x' * 59}…{'x' * 159}' does not match '^y'",
            id="by-jsonschema-long-text",
        ),
    ],
)
def test_a_finding_says_where_what_came_and_what_was_expected(value: Any, schema: Any, finding: str) -> None:
    assert findings({"a": value}, parameters({"a": schema})) == [finding]


def test_a_required_argument_that_is_missing_is_named_with_its_type() -> None:
    schema = parameters({"url": TEXT, "n": COUNT}, "url", "n")
    expected = [
        "url: it is required and missing, expected string",
        "n: it is required and missing, expected integer",
    ]
    assert findings({}, schema) == expected


def test_a_limit_on_the_arguments_themselves_is_told_of_them() -> None:
    assert findings({"a": "x"}, parameters({"a": TEXT}, enum=[{"a": "y"}]))[0].startswith("the arguments: expected one")
    assert findings({"a": "x"}, parameters({"a": TEXT}, minProperties=2))[0].startswith("the arguments: ")


def test_every_finding_is_told_in_one_message() -> None:
    with pytest.raises(ArgumentsInvalid) as caught:
        prepare({"a": 1, "b": 0.5, "c": 1}, parameters({"a": TEXT, "b": COUNT}, "d"))
    assert caught.value.code == "INVALID_INPUT"
    assert str(caught.value) == (
        "Invalid arguments: c: there is no such argument; there are a, b; "
        "a: expected string, got integer 1; b: expected integer, got number 0.5; "
        "d: it is required and missing, expected value."
    )


def test_a_limit_of_another_type_is_passed_over() -> None:
    limits = {"minimum": 5, "maxLength": 1, "minItems": 3, "required": ["x"]}
    assert prepare({"a": True}, parameters({"a": {"type": "boolean", **limits}})) == {"a": True}


# The same verdict as jsonschema.

SCALARS = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([0.0, -0.0, 1.0, 1.5, 1e9, "", "a", "éé"])
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)
TYPES = ["string", "integer", "number", "boolean", "array", "object"]
LIMITS = st.integers(-2, 3) | st.sampled_from([0.0, 0.5, 1.0])
SIZES = st.integers(0, 3)
KNOWN = {
    "type": st.sampled_from(TYPES),
    "enum": st.lists(VALUES, max_size=4),
    **dict.fromkeys(["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"], LIMITS),
    **dict.fromkeys(["minLength", "maxLength", "minItems", "maxItems"], SIZES),
    "required": st.lists(st.sampled_from("abc"), unique=True),
    "format": st.sampled_from(["uri", "date", "email"]),
    "default": VALUES,
    "description": st.just("x"),
}
OTHERS = {
    "const": VALUES,
    "multipleOf": st.sampled_from([1, 2, 0.5]),
    "uniqueItems": st.booleans(),
    "pattern": st.sampled_from(["^a", "b$", "."]),
    "minProperties": SIZES,
    "not": st.builds(lambda kind: {"type": kind}, KNOWN["type"]),
    "anyOf": st.lists(st.builds(lambda kind: {"type": kind}, KNOWN["type"]), min_size=1, max_size=2),
    "additionalProperties": st.booleans(),
    "propertyNames": st.just({"maxLength": 1}),
    "$ref": st.just("#"),
}


def schemas(keywords: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    flat = st.fixed_dictionaries({}, optional=keywords)
    return st.recursive(
        flat,
        lambda inner: st.builds(
            lambda schema, items, properties: {**schema, **items, **properties},
            flat,
            st.fixed_dictionaries({}, optional={"items": inner}),
            st.fixed_dictionaries(
                {}, optional={"properties": st.dictionaries(st.sampled_from("abc"), inner, max_size=3)}
            ),
        ),
        max_leaves=6,
    )


@QUICK
@given(schema=schemas(KNOWN), value=VALUES)
def test_a_value_fits_a_schema_exactly_if_jsonschema_finds_it_valid(schema: dict[str, Any], value: Any) -> None:
    assert not needs_jsonschema(schema)
    found = list(check(value, schema))
    assert (not found) == Draft202012Validator(schema).is_valid(value), found


@QUICK
@given(schema=schemas({**KNOWN, **{name: values for name, values in OTHERS.items() if name != "$ref"}}), value=VALUES)
def test_a_keyword_that_only_jsonschema_knows_is_checked_wherever_it_stands(schema: dict[str, Any], value: Any) -> None:
    found = list(check(value, schema))
    assert (not found) == Draft202012Validator(schema).is_valid(value), found


@pytest.mark.slow
@QUICK
@given(properties=st.dictionaries(st.sampled_from("abc"), schemas({**KNOWN, **OTHERS}), max_size=3), data=st.data())
def test_whatever_the_schema_and_the_arguments_are_they_are_prepared_or_refused(
    properties: dict[str, Any], data: st.DataObject
) -> None:
    arguments = data.draw(st.dictionaries(st.sampled_from("abcd"), VALUES, max_size=4))
    schema = {"type": "object", "properties": properties}
    try:
        prepared = prepare(arguments, schema)
    except (ArgumentsInvalid, SchemaInvalid):
        return
    assert prepared == without_fillers(arguments, schema)


@pytest.mark.parametrize(
    ("arguments", "valid"), [({"a": {"a": {}}}, True), ({"a": {"a": 5}}, False)], ids=["valid", "invalid"]
)
def test_a_reference_reaches_the_whole_schema_from_wherever_it_stands(arguments: Any, valid: bool) -> None:
    schema = parameters({"a": {"type": "object", "properties": {"a": {"$ref": "#/properties/a"}}}})
    if valid:
        assert prepare(arguments, schema) == arguments
    else:
        assert findings(arguments, schema) == ["a/a: 5 is not of type 'object'"]


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param({"type": "integer", "minimum": "1"}, id="limit-that-is-text"),
        pytest.param({"type": "integer", "enum": 5}, id="enum-that-is-a-number"),
        pytest.param({"$ref": "#/nowhere"}, id="reference-to-nothing"),
        pytest.param({"$ref": "#/properties/a"}, id="reference-to-itself"),
        pytest.param({"not": {"type": "color"}}, id="type-that-there-is-not"),
        pytest.param({"multipleOf": 0}, id="multiple-of-zero"),
    ],
)
def test_a_schema_that_nothing_can_be_held_against_is_what_is_reported(broken: dict[str, Any]) -> None:
    with pytest.raises(SchemaInvalid, match=r"^The tool's schema cannot be used to check arguments: \w+"):
        prepare({"a": 5}, parameters({"a": broken}))


def test_a_pattern_that_does_not_compile_is_what_is_reported() -> None:
    with pytest.raises(SchemaInvalid, match="cannot be used to check arguments"):
        prepare({"a": "x"}, parameters({"a": {"type": "string", "pattern": "("}}))


@pytest.mark.process
def test_a_remote_reference_is_never_fetched() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        url = f"http://127.0.0.1:{server.getsockname()[1]}/schema.json"
        with pytest.raises(SchemaInvalid, match="cannot be used to check arguments"):
            prepare({"a": "x"}, parameters({"a": {"$ref": url}}))
        with pytest.raises(TimeoutError):
            server.accept()
