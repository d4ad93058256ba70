"""Tools' schemas: those that the project ships, and any that hypothesis makes up within the rules of the format."""

import json
from typing import Any

from hypothesis import strategies as st

from ferrule_testkit import PROJECT

SHIPPED: dict[str, dict[str, Any]] = {
    schema["name"]: schema
    for path in sorted(
        [*PROJECT.glob("plugins/*/src/**/*schema.json"), *PROJECT.glob("host/src/ferrule/**/*.schema.json")]
    )
    if "templates" not in path.parts  # whose tools are those of authors
    for schema in [json.loads(path.read_text())]
}

Schema = dict[str, Any]

_TEXT = st.text('ab é"\\', max_size=4)
_NAMES = st.sampled_from(["a", "b", "notebookPath", "c-d", "e.f", "9g", "h i", "", "x" * 65, "ü", "$ref", "anyOf"])
_VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([0.5, 2.0]) | _TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["a", "b", "z"]), inner, max_size=3),
    max_leaves=6,
)
_LIMITS: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "string": {"minLength": st.integers(0, 2), "maxLength": st.integers(1, 3), "format": st.just("uri")},
    "integer": {"minimum": st.integers(-2, 1), "maximum": st.integers(0, 3), "exclusiveMinimum": st.integers(-1, 1)},
    "number": {"minimum": st.integers(-2, 1), "multipleOf": st.just(0.5)},
    "boolean": {"const": st.booleans()},
    "array": {"minItems": st.integers(0, 1), "maxItems": st.integers(1, 2), "uniqueItems": st.booleans()},
    "object": {"minProperties": st.integers(0, 1), "additionalProperties": st.booleans()},
}
_ANYWHERE: dict[str, st.SearchStrategy[Any]] = {
    "description": _TEXT,
    "default": _VALUES,
    "enum": st.lists(_VALUES, min_size=1, max_size=3, unique_by=repr),
    "not": st.builds(dict, type=st.sampled_from(["string", "null"])),
    "$ref": st.sampled_from(["#", "#/properties/a", "#/$defs/a", "https://example.com/schema"]),
}
_AT_THE_TOP: dict[str, st.SearchStrategy[Any]] = {
    "title": _TEXT,
    "$schema": st.just("https://json-schema.org/draft/2020-12/schema"),
    "$defs": st.builds(dict, a=st.builds(dict, type=st.sampled_from(["string", "object"]))),
    "additionalProperties": st.booleans(),
    "patternProperties": st.just({"^p": {"type": "integer"}}),
    "anyOf": st.just([{"required": ["a"]}, {"required": ["b"]}]),
    "allOf": st.just([{"properties": {"k": {"type": "string"}}}]),
    "dependentRequired": st.just({"a": ["b"]}),
}


@st.composite
def tool_schemas(draw: st.DrawFn) -> Schema:
    """A schema that keeps the rules of the format, often with what earns a warning."""
    parameters = _object(draw, 0)
    parameters |= _some(draw, _AT_THE_TOP)
    name = draw(st.sampled_from(["a", "web_search", "_x", "9lives", "n" * 65, "n" * 129]))
    description = draw(st.sampled_from(["", "Does.", "d" * 1025]))
    return {"name": name, "description": description, "parameters": parameters}


@st.composite
def arguments_for(draw: st.DrawFn, schema: Schema) -> dict[str, Any]:
    """Arguments that often fit the schema, and often nearly."""
    properties: Schema = schema["parameters"]["properties"]
    required: list[str] = schema["parameters"].get("required", [])
    names = required + draw(st.lists(st.sampled_from(sorted(properties)), unique=True) if properties else st.just([]))
    arguments = {name: draw(_fitting(properties[name])) for name in names}
    if draw(st.booleans()) and names:
        arguments[draw(st.sampled_from(names))] = draw(_VALUES)
    if draw(st.booleans()):
        arguments[draw(st.sampled_from(["a", "b", "k", "p1", "z"]))] = draw(_VALUES)
    return arguments


def _fitting(schema: Schema) -> st.SearchStrategy[Any]:
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    inside = {name: _fitting(inner) for name, inner in schema.get("properties", {}).items()}
    kinds: dict[str, st.SearchStrategy[Any]] = {
        "string": st.just("a") | _TEXT,
        "integer": st.integers(-1, 3),
        "number": st.sampled_from([0, 0.5, 2]),
        "boolean": st.booleans(),
        "array": st.lists(_fitting(schema["items"]) if "items" in schema else _VALUES, max_size=2),
        "object": st.fixed_dictionaries(inside, optional={"z": _VALUES}),
    }
    return kinds[schema["type"]]


def _object(draw: st.DrawFn, depth: int) -> Schema:
    names = draw(st.lists(_NAMES, max_size=3, unique=True))
    schema: Schema = {"type": "object", "properties": {name: _schema(draw, depth + 1) for name in names}}
    if draw(st.booleans()):
        schema["required"] = draw(st.lists(st.sampled_from(names), unique=True)) if names else []
    return schema


def _schema(draw: st.DrawFn, depth: int) -> Schema:
    kind = draw(st.sampled_from([*_LIMITS] if depth < 3 else ["string", "integer"]))
    schema: Schema = _object(draw, depth) if kind == "object" else {"type": kind}
    if kind == "array" and draw(st.booleans()):
        schema["items"] = _schema(draw, depth + 1)
    return schema | _some(draw, _LIMITS[kind] | _ANYWHERE)


def _some(draw: st.DrawFn, keywords: dict[str, st.SearchStrategy[Any]]) -> Schema:
    """None of the keywords as often as one or two of them."""
    chosen = draw(st.lists(st.sampled_from(sorted(keywords)), max_size=2, unique=True))
    return {keyword: draw(keywords[keyword]) for keyword in chosen}
