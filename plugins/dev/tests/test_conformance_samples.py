"""The arguments that `ferrule check` makes from a schema, held against that schema."""

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from ferrule_dev.conformance import sample
from ferrule_dev.conformance.plan import make_plan

ROOT = Path(__file__).parents[3]
SHIPPED = sorted(one for one in ROOT.glob("plugins/*/src/**/schema.json") if "templates" not in one.parts)


def an_object(required: list[str], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required}


HARD = an_object(
    ["city", "days", "half", "code", "tags", "kind", "at", "place", "either", "reference", "short", "many"],
    city={"type": "string", "minLength": 12},
    days={"type": "integer", "exclusiveMinimum": 3, "maximum": 40, "multipleOf": 7},
    half={"type": "number", "minimum": 0.25, "maximum": 0.75},
    code={"type": "string", "pattern": "^[0-9]{4}$"},
    tags={"type": "array", "minItems": 2, "items": {"type": "string", "enum": ["a", "b"]}},
    kind={"enum": [3, 4]},
    at={"type": "string", "format": "date-time"},
    place=an_object(["lat"], lat={"type": "number", "minimum": -90, "maximum": 90}),
    either={"anyOf": [{"type": "null"}, {"type": "integer", "minimum": 5}]},
    reference={"$ref": "#/$defs/named"},
    short={"type": "string", "maxLength": 2},
    many={"type": ["null", "boolean"]},
    days_ahead={"type": "integer", "minimum": 1, "maximum": 7},
    order={"type": "string", "enum": ["up", "down"]},
    words={"type": "array", "maxItems": 2, "items": {"type": "string"}},
) | {"$defs": {"named": {"type": "string", "const": "this one"}}}


def shipped() -> list[Any]:
    return [pytest.param(json.loads(path.read_text())["parameters"], id=path.parent.name) for path in SHIPPED]


@pytest.mark.parametrize("parameters", [pytest.param(HARD, id="hard"), *shipped()])
def test_what_is_made_as_good_fits_its_schema_and_what_is_made_as_wrong_does_not(parameters: dict[str, Any]) -> None:
    validator = Draft202012Validator(parameters)
    good = sample.arguments(parameters)
    assert list(validator.iter_errors(good)) == []
    wrong = [
        *sample.without_each_required(good, parameters),
        *(variant for _, variant in sample.of_another_type(good, parameters)),
        *sample.outside_of_limits(good, parameters),
    ]
    assert [one.label for one in wrong if validator.is_valid(one.arguments)] == []
    assert len(wrong) >= 2 * len(parameters.get("required", []))


def test_a_limit_is_never_tried_by_a_filler() -> None:
    parameters = an_object(
        [],
        count={"type": "integer", "minimum": 1},
        name={"type": "string", "minLength": 1},
        tags={"type": "array", "items": {"type": "string"}, "minItems": 1},
    )
    tried = list(sample.outside_of_limits({}, parameters))
    assert [one.arguments for one in tried] == [{"count": -1}]
    assert sample.limits_of(parameters) == 3


def test_optional_arguments_are_filled_as_strict_providers_do_it() -> None:
    parameters = an_object(
        ["city"],
        city={"type": "string"},
        unit={"type": "string", "enum": ["C", "F"]},
        days={"type": "integer", "minimum": 1},
        offset={"type": "integer", "minimum": 0},
        tags={"type": "array", "items": {"type": "string"}},
        all={"type": "boolean"},
    )
    filled = [one.arguments for one in sample.filled({"city": "Oslo"}, parameters)]
    optional = {"unit": None, "days": None, "offset": None, "tags": None, "all": None}
    assert filled == [{"city": "Oslo", **optional}, {"city": "Oslo", "unit": "", "days": 0, "tags": []}]


def test_a_plan_leaves_out_what_does_not_fit_and_keeps_what_tells_most() -> None:
    whole = make_plan(HARD, examples=2, call_seconds=0.05, budget=120)
    assert whole.left_out == {}
    short = make_plan(HARD, examples=0, call_seconds=1.0, budget=20)
    assert short.seconds <= 20
    assert "locale" in short.left_out
    assert "missing-argument" not in short.left_out
