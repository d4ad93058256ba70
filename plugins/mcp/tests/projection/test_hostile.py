"""Schemas that nobody means well with: each becomes one that keeps the rules, and nothing that it names is fetched."""

import socket
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ferrule.errors import ArgumentsInvalid
from ferrule.schema.arguments import needs_jsonschema, prepare
from ferrule.schema.providers import FORMATS
from ferrule.schema.rules import check
from ferrule.text import strict_json
from ferrule_mcp.projection import Projection, project, translate_arguments
from ferrule_testkit.effort import examples
from ferrule_testkit.projections.arguments import projected_arguments

pytestmark = pytest.mark.process  # some of the schemas have a million characters

Schema = dict[str, Any]
TEXT = {"type": "string"}
_BACKTRACKING = "^(a+)+$"


def object_with(**properties: Any) -> Schema:
    return {"type": "object", "properties": properties}


def nest(levels: int, wrap: Callable[[Any], Schema]) -> Schema:
    """The argument `a` with schemas inside one another."""
    schema: Schema = TEXT
    for _ in range(levels):
        schema = wrap(schema)
    return object_with(a=schema)


def double(wrap: Callable[[Schema], Schema]) -> Schema:
    """Definitions that each refer to the next one twice: 2 to the power of 40, written out."""
    definitions = {f"d{level}": wrap({"$ref": f"#/$defs/d{level + 1}"}) for level in range(40)}
    properties = {f"a{number}": {"$ref": "#/$defs/d0"} for number in range(100)}
    return {**object_with(**properties), "$defs": {**definitions, "d40": TEXT}}


HOSTILE: dict[str, Callable[[], Any]] = {
    "a circle at once": lambda: object_with(a={"$ref": "#/properties/a"}),
    "a circle by the root": lambda: object_with(a={"$ref": "#"}),
    "a circle of two": lambda: {
        **object_with(a={"$ref": "#/$defs/x"}),
        "$defs": {"x": {"$ref": "#/$defs/y"}, "y": {"$ref": "#/$defs/x"}},
    },
    "doubled properties": lambda: double(lambda next_one: object_with(left=next_one, right=next_one)),
    "doubled alternatives": lambda: double(lambda next_one: {"anyOf": [next_one, {**next_one, "title": "x"}]}),
    "doubled conjunctions": lambda: double(lambda next_one: {"allOf": [next_one, {**next_one, "title": "x"}]}),
    "a product of alternatives": lambda: {
        "allOf": [{"anyOf": [object_with(**{f"a{one}_{two}": TEXT}) for two in range(10)]} for one in range(10)]
    },
    "1000 levels of arrays": lambda: nest(1000, lambda inner: {"type": "array", "items": inner}),
    "1000 levels of objects": lambda: nest(1000, lambda inner: object_with(a=inner)),
    "1000 levels of unions": lambda: nest(1000, lambda inner: {"anyOf": [inner, {"type": "null"}]}),
    "1000 levels of conjunctions": lambda: nest(1000, lambda inner: {"allOf": [inner]}),
    "1000 levels of negations": lambda: nest(1000, lambda inner: {"not": inner}),
    "100,000 levels": lambda: nest(100_000, lambda inner: {"type": "array", "items": inner}),
    "a million characters of properties": lambda: object_with(
        **{f"property_{number}": {**TEXT, "description": "d" * 80} for number in range(9000)}
    ),
    "50,000 required names": lambda: {"type": "object", "required": [f"r{number}" for number in range(50_000)]},
    "a description of a million characters": lambda: object_with(a={**TEXT, "description": "x" * 1_000_000}),
    "an enum of 100,000": lambda: object_with(a={**TEXT, "enum": [f"v{number}" for number in range(100_000)]}),
    "two enums of 50,000": lambda: object_with(
        a={"anyOf": [{"enum": list(range(50_000))}, {"enum": [str(number) for number in range(50_000)]}]}
    ),
    "a value of a million characters": lambda: object_with(a={"enum": ["x" * 1_000_000, 1]}),
    "a name of a million characters": lambda: object_with(**{"x" * 1_000_000: TEXT}),
    "a long definition, 300 times": lambda: {
        **object_with(**{f"a{number}": {"$ref": "#/$defs/d"} for number in range(300)}),
        "$defs": {"d": {**TEXT, "default": "y" * 500_000, "description": "z" * 500_000, "pattern": "p" * 100_000}},
    },
    "20,000 alternatives": lambda: object_with(
        a={"anyOf": [object_with(**{f"p{number}": TEXT}) for number in range(20_000)]}
    ),
    "a tuple of 20,000": lambda: object_with(
        a={"type": "array", "prefixItems": [{**TEXT, "minLength": number} for number in range(20_000)]}
    ),
    "8,000 values, three levels deep": lambda: object_with(
        **{
            f"a{one}": object_with(
                **{f"b{two}": object_with(**{f"c{three}": TEXT for three in range(20)}) for two in range(20)}
            )
            for one in range(20)
        }
    ),
    "a reference to another host": lambda: object_with(a={"$ref": "https://ferrule.invalid/x.json#/a"}),
    "references to nothing": lambda: object_with(
        a={"$ref": "#/$defs/none"},
        b={"$ref": "#/properties/a/$ref/0"},
        c={"$ref": 5},
        d={"$ref": "#/%zz"},
        e={"$ref": "#x"},
    ),
    "schemas that are true and false": lambda: {**object_with(a=True, b=False), "required": ["b"]},
    "no schema": lambda: None,
    "true": lambda: True,
    "a list": list,
    "an empty schema": dict,
    "no object": lambda: {"type": "string"},
    "lists of types": lambda: object_with(
        a={"type": ["string", "integer", "null", "array"]}, b={"type": []}, c={"type": "foo"}, d={"type": 5}
    ),
    "an enum of everything": lambda: object_with(
        a={"enum": [1, "1", None, True, 1.0, "true", {"a": 1}, [1], "null", '"1"']}, b={"enum": []}, c={"enum": "x"}
    ),
    "names of prototypes": lambda: object_with(
        __proto__=TEXT, constructor=object_with(prototype=TEXT), hasOwnProperty=True, __class__=TEXT
    ),
    "names that are no names": lambda: {
        **object_with(
            **{"": TEXT, " ": TEXT, "имя": TEXT, "a\u202eb": TEXT, "\ud800": TEXT, "\0": TEXT, "é": {"type": "null"}}
        ),
        "required": ["имя", "\ud800"],
    },
    "names that become the same": lambda: object_with(
        **dict.fromkeys(["a-b", "a.b", "a_b", "aB ", "a b"], TEXT),
        other_arguments={"type": "array", "items": {}, "default": ["x"]},
    ),
    "patterns that backtrack": lambda: object_with(
        a={**TEXT, "pattern": _BACKTRACKING}, b={"type": "object", "patternProperties": {_BACKTRACKING: TEXT}}
    ),
    "limits that are none": lambda: object_with(
        a={
            "type": "integer",
            "minimum": "x",
            "maximum": float("inf"),
            "exclusiveMaximum": float("nan"),
            "multipleOf": 0,
        },
        b={**TEXT, "minLength": -1, "maxLength": 1.5, "description": 5, "title": [], "default": float("nan")},
        c={"type": "array", "items": [], "minItems": 10**400, "uniqueItems": "x"},
        d={"enum": [float("nan"), 1]},
    ),
    "schemas that are none": lambda: {
        **object_with(a=5, b=None, c=[], d="x"),
        "required": [1, None, "a", "a"],
        "additionalProperties": 5,
        "anyOf": {},
        "allOf": 5,
    },
    "hidden text": lambda: object_with(
        a={"enum": ["a\u200bb", "ab", "\r", "\U000e0041"], "description": "x\u202e\ud800\0"}
    ),
    "long words in a wide script": lambda: object_with(
        **{f"a{number}": {**TEXT, "description": "説明" * 200} for number in range(60)}
    ),
}


def project_schema(schema: Any) -> Projection:
    return project({"name": "t", "description": "It.", "inputSchema": schema}, "t")


def require_rules(projection: Projection) -> None:
    """It keeps the rules, no provider's form refuses it, and its record can be kept."""
    schema = projection.schema
    assert [one for one in check(schema, name="t") if one.severity == "error"] == []
    assert not needs_jsonschema(schema["parameters"])
    for form in FORMATS.values():
        assert [loss for loss in form.losses(schema) if loss.refused] == []
    strict_json.dumps([projection.translation, projection.lost, projection.texts])


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_schema_becomes_one_that_keeps_the_rules(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket, "socket", refuse)
    require_rules(project_schema(HOSTILE[name]()))


@pytest.mark.parametrize("name", ["doubled properties", "doubled alternatives", "doubled conjunctions"])
def test_the_work_does_not_double(name: str) -> None:
    """Not by the clock: each schema is looked at once, and there are no more of them than were written."""
    from ferrule_mcp.projection.alternatives import Source, Unfolding

    schema = HOSTILE[name]()
    unfolding = Unfolding(schema)
    unfolding.unfold([(Source(schema["properties"]["a0"]),)])
    assert len(unfolding._known) < 200


@pytest.mark.parametrize("name", [name for name in HOSTILE if "0" not in name and "million" not in name])
@settings(max_examples=examples(50))
@given(data=st.data())
def test_arguments_of_a_hostile_schema_are_translated_or_refused(name: str, data: st.DataObject) -> None:
    projection = project_schema(HOSTILE[name]())
    parameters = projection.schema["parameters"]
    written = data.draw(projected_arguments(parameters, projection.translation))
    try:
        strict_json.dumps(translate_arguments(projection.translation, prepare(written, parameters)))
    except ArgumentsInvalid:
        pass  # a text that is no JSON, which is told with its place


_NAMES = st.sampled_from(["a", "b-c", "b_c", "ü", "", "other_arguments", "__proto__", "$ref"])
_KINDS = st.sampled_from(["string", "integer", "number", "boolean", "array", "object", "null", "foo", 5])
_REFERENCES = st.sampled_from(["#", "#/$defs/a", "#/$defs/b-c", "#/properties/a", "#/none", "x.json", "#anchor", 7])
_JUNK: st.SearchStrategy[Any] = (
    st.none() | st.booleans() | st.integers(-2, 2) | st.text(max_size=3) | st.just(float("nan")) | st.just([])
)


def _extend(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    mapped = st.dictionaries(_NAMES, inner, max_size=3) | _JUNK
    listed = st.lists(inner, max_size=3) | _JUNK
    return st.fixed_dictionaries(
        {},
        optional={
            "type": _KINDS | st.lists(_KINDS, max_size=3) | _JUNK,
            "properties": mapped,
            "$defs": mapped,
            "patternProperties": mapped,
            "required": st.lists(_NAMES | st.just(5), max_size=3) | _JUNK,
            "items": inner | listed,
            "prefixItems": listed,
            "additionalProperties": inner,
            "anyOf": listed,
            "oneOf": listed,
            "allOf": listed,
            "not": inner,
            "if": inner,
            "$ref": _REFERENCES,
            "$anchor": st.just("anchor"),
            "enum": st.lists(_JUNK, max_size=3) | _JUNK,
            "const": _JUNK,
            "default": _JUNK,
            "description": st.text(max_size=5) | _JUNK,
            **dict.fromkeys(("minimum", "exclusiveMaximum", "minLength", "maxItems", "pattern", "format"), _JUNK),
        },
    )


@given(schema=st.recursive(_JUNK | st.just({}), _extend, max_leaves=12))
def test_any_schema_becomes_one_that_keeps_the_rules(schema: Any) -> None:
    before = repr(schema)
    require_rules(project_schema(schema))
    assert repr(schema) == before, "the server's schema is not changed"
