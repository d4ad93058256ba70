"""The flat metaschema refuses what the published one refuses, in the same words."""

import random
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from ferrule.schema.rules import flat_metaschema
from ferrule.schema.rules.findings import pointer_to
from ferrule.schema.rules.metaschema import metaschema
from ferrule_testkit.schemas.tool_schemas import SHIPPED

WRONG: list[Any] = [None, True, -1, 1.5, "x", [], ["a", "a"], {}, {"type": "nope"}, {"a": ["b", 1]}, [{}, 3], 0, ""]
PUBLISHED = Draft202012Validator(Draft202012Validator.META_SCHEMA)
FLAT = flat_metaschema.validator(PUBLISHED.FORMAT_CHECKER.__class__(formats=()))
KEYWORDS = [
    "$id", "$anchor", "$defs", "$ref", "$vocabulary", "$recursiveAnchor", "allOf", "contains", "definitions", "items",
    "dependencies", "dependentRequired", "dependentSchemas", "enum", "if", "maxItems", "minLength", "multipleOf",
    "pattern", "patternProperties", "prefixItems", "properties", "propertyNames", "required", "type", "uniqueItems",
    "unevaluatedItems", "contentSchema", "format", "deprecated",
]  # fmt: skip


def spoil(schema: Any, chance: random.Random) -> Any:
    """The same schema with some keywords that say what they cannot say."""
    if isinstance(schema, list):
        return [spoil(one, chance) for one in schema]
    if not isinstance(schema, dict):
        return schema
    spoilt = {name: spoil(one, chance) for name, one in schema.items()}
    if chance.random() < 0.15:
        spoilt[chance.choice(KEYWORDS)] = chance.choice(WRONG)
    return spoilt


def told(validator: Any, schema: Any) -> dict[str, str]:
    """The first message for each place."""
    found: dict[str, str] = {}
    for error in validator.iter_errors(schema):
        found.setdefault(pointer_to("", *error.absolute_path), error.message)
    return found


@pytest.mark.slow
@pytest.mark.process  # the published one takes its time
def test_spoilt_schemas_are_refused_for_the_same_in_the_same_places() -> None:
    chance = random.Random(7)
    refused = 0
    for _ in range(4):
        for shipped in SHIPPED.values():
            schema = spoil(shipped["parameters"], chance)
            expected = told(PUBLISHED, schema)
            assert told(FLAT, schema) == expected, schema
            refused += len(expected)
    assert refused > 50


@pytest.mark.parametrize("keyword", KEYWORDS)
def test_each_keyword_is_held_to_what_it_is_published_as(keyword: str) -> None:
    for wrong in WRONG:
        schema = {"type": "object", keyword: wrong}
        assert told(FLAT, schema) == told(PUBLISHED, schema), wrong


def test_a_pattern_in_the_depth_is_compiled() -> None:
    schema = {"parameters": {"properties": {"a": {"items": {"anyOf": [{"pattern": "("}]}}}}}
    assert [one.pointer for one in metaschema(schema)] == ["/parameters/properties/a/items/anyOf/0/pattern"]
