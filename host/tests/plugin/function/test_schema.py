"""What the signature of a function makes: the schema, or the error that names the parameter and the way out."""

from __future__ import annotations

import datetime
import pathlib
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum, IntEnum
from typing import Annotated, Any, Literal, NewType, NotRequired, Optional, TypedDict, Union

import annotated_types
import msgspec
import pydantic
import pytest

from ferrule import Context, Range, tool
from ferrule.errors import SchemaInvalid
from ferrule.plugin.function.schema import make_result_schema, make_schema
from ferrule.schema.rules import check


class Unit(Enum):
    KELVIN = "K"
    CELSIUS = "C"


class Size(IntEnum):
    S = 1
    L = 3


@dataclass
class Place:
    """A place."""

    name: Annotated[str, "Its name"]
    height: Annotated[float | None, "In metres", Range(min=0)] = None
    tags: list[str] = field(default_factory=list)


class Trip(TypedDict):
    to: Place
    by: NotRequired[Annotated[Literal["train", "car"], "Means"]]


@dataclass
class Route:
    start: Place
    stops: list[Place]


@dataclass
class Tree:
    branches: list[Tree]


class Model(pydantic.BaseModel):
    name: str


Identifier = NewType("Identifier", int)
PLACE = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "description": "Its name"},
        "height": {"type": "number", "description": "In metres", "minimum": 0},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["name"],
}
WHOLE = {"type": "integer"}
TEXT = {"type": "string"}
NO_DEFAULT = object()


def describe(annotation: Any, default: Any = NO_DEFAULT) -> dict[str, Any]:
    """The schema of the one parameter of a function."""

    def function(value):
        """Does something."""

    function.__annotations__ = {"value": annotation}
    if default is not NO_DEFAULT:
        function.__defaults__ = (default,)
    made = make_schema(tool(function).definition)
    assert ("required" in made["parameters"]) == (default is NO_DEFAULT)
    assert not [one for one in check(made, name="function") if one.severity == "error"]
    return made["parameters"]["properties"]["value"]


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        (str, TEXT),
        (int, WHOLE),
        (float, {"type": "number"}),
        (bool, {"type": "boolean"}),
        ("str", TEXT),
        (Identifier, WHOLE),
        (Annotated[str, "A name"], TEXT | {"description": "A name"}),
        (Annotated[int, "Days", Range(1, 7)], WHOLE | {"description": "Days", "minimum": 1, "maximum": 7}),
        (Annotated[int, Range(1.0, 7)], WHOLE | {"minimum": 1, "maximum": 7}),
        (Annotated[float, Range(max=0.5)], {"type": "number", "maximum": 0.5}),
        (Annotated[int, annotated_types.Interval(gt=0, lt=8)], WHOLE | {"minimum": 1, "maximum": 7}),
        (Annotated[str, annotated_types.Len(1, 5)], TEXT | {"minLength": 1, "maxLength": 5}),
        (Annotated[int, pydantic.Field(ge=2, description="Two")], WHOLE | {"description": "Two", "minimum": 2}),
        (Annotated[int, msgspec.Meta(le=2, description="Two")], WHOLE | {"description": "Two", "maximum": 2}),
        (Annotated[list[str], annotated_types.MinLen(1)], {"type": "array", "minItems": 1, "items": TEXT}),
        (Annotated[Annotated[str, "Inner"], "Outer"], TEXT | {"description": "Outer"}),
        (Literal["b", "a"], TEXT | {"enum": ["b", "a"]}),
        (Literal["only"], TEXT | {"enum": ["only"]}),
        (Literal[2, 1], WHOLE | {"enum": [2, 1]}),
        (Unit, TEXT | {"enum": ["K", "C"]}),
        (Size, WHOLE | {"enum": [1, 3]}),
        (list[int], {"type": "array", "items": WHOLE}),
        (Sequence[str], {"type": "array", "items": TEXT}),
        (Iterable[str], {"type": "array", "items": TEXT}),
        (set[str], {"type": "array", "items": TEXT}),
        (tuple[int, ...], {"type": "array", "items": WHOLE}),
        (list[Annotated[int, Range(0, 9)]], {"type": "array", "items": WHOLE | {"minimum": 0, "maximum": 9}}),
        (datetime.date, TEXT | {"description": "A date such as 2025-01-31"}),
        (Annotated[datetime.time, "Start"], TEXT | {"description": "Start (a time of day such as 12:30:00)"}),
        (pathlib.Path, TEXT),
        (Place, PLACE),
        (
            Trip,
            {
                "type": "object",
                "properties": {"to": PLACE, "by": TEXT | {"description": "Means", "enum": ["train", "car"]}},
                "required": ["to"],
            },
        ),
        (list[Place], {"type": "array", "items": PLACE}),
        (list["Place"], {"type": "array", "items": PLACE}),
        (
            Route,
            {
                "type": "object",
                "properties": {"start": PLACE, "stops": {"type": "array", "items": PLACE}},
                "required": ["start", "stops"],
            },
        ),
        ("list['Unit']", {"type": "array", "items": TEXT | {"enum": ["K", "C"]}}),
    ],
    ids=str,
)
def test_a_type_is_said_as_the_format_can_say_it(annotation: Any, expected: dict[str, Any]) -> None:
    described = describe(annotation)
    assert described == expected
    properties = described.get("properties", {})
    assert list(properties) == list(expected.get("properties", {})), "fields stand as they are written"


@pytest.mark.parametrize(
    ("annotation", "default", "description"),
    [
        (int, 3, "Default: 3"),
        (Annotated[int, "Days."], 3, "Days (default: 3)"),
        (Annotated[int, "Days, by default three"], 3, "Days, by default three"),
        (bool, False, "Default: false"),
        (Unit, Unit.CELSIUS, "Default: C"),
        (list[str], ["a"], 'Default: ["a"]'),
        (datetime.date, datetime.date(2025, 1, 2), "A date such as 2025-01-31; default: 2025-01-02"),
        (Annotated[str, "Filter"], "", "Filter"),
        (Annotated[str | None, "Filter"], None, "Filter"),
        (Optional[Annotated[int, "Days", Range(1)]], None, "Days"),  # noqa: UP045 - an older way to write it
        (Literal["a", None], None, None),
        (list[str], [], None),
    ],
)
def test_a_default_is_told_in_the_description_alone(annotation: Any, default: Any, description: str | None) -> None:
    described = describe(annotation, default)
    assert described.get("description") == description
    assert "default" not in described
    assert "anyOf" not in described


@pytest.mark.parametrize(
    ("annotation", "problem", "way_out"),
    [
        (Any, "allows any value", "Name the type"),
        (object, "allows any value", "Name the type"),
        (int | str, "union (int or str)", "one type"),
        (Union[list[str], str], "union (list[str] or str)", "one type"),  # noqa: UP007 - an older way to write it
        (str | None, "union (str or None)", "default None"),
        (dict, "free keys", "TypedDict"),
        (dict[str, int], "free keys", "TypedDict"),
        (list, "a type for its items", "list[str]"),
        (list[Any], "'value[]' of function cannot be described: its type allows any value", "Name the type"),
        (tuple[int, str], "places have types of their own", "dataclass"),
        (bytes, "bytes", "Take str"),
        (complex, "complex", "Take str"),
        (uuid.UUID, "UUID", "Take str"),
        (Decimal, "Decimal", "Take str"),
        (Model, "Model", "dataclass"),
        (Tree, "Tree holds itself", "fixed depth"),
        (Literal["a", 1], "values are texts, whole numbers or booleans, not 'a', 1", "texts"),
        (Literal[Unit.KELVIN], "values are texts", "texts"),
        (Annotated[str, annotated_types.Predicate(str.islower)], "no word for a function that checks", "validate"),
        (Annotated[str, pydantic.Field(pattern="a+")], "no word for a pattern", "validate"),
        (Annotated[float, annotated_types.Gt(0)], "bound that is excluded", "Range"),
        (Annotated[str, msgspec.Meta(pattern="a+")], "no word for a pattern", "@tool(validate=…)"),
        (Annotated[int, annotated_types.MultipleOf(5)], "no word for a multiple", "@tool(validate=…)"),
        (Annotated[str, Range(1, 2)], "the greatest are of a number, and its type is str", "Len(1, 5)"),
        (Annotated[int, Range(0.5, 2)], "a whole number has no bound 0.5", "float"),
        (Callable[[int], int], "Callable", "Take str"),
        (list[str | None], "'value[]' of function cannot be described", "Leave None out of the list"),
        ("Unknown", "its type Unknown is not known", "import it at the module"),
        (list[Trip | Place], "'value[]' of function cannot be described", "one type"),
    ],
    ids=str,
)
def test_what_the_format_cannot_say_is_an_error_with_the_parameter_and_the_way_out(
    annotation: Any, problem: str, way_out: str
) -> None:
    with pytest.raises(SchemaInvalid) as caught:
        describe(annotation)
    assert "The parameter 'value" in caught.value.message
    assert problem in caught.value.message
    assert way_out in (caught.value.hint or "")


def no_type(city):
    """Does something."""


def further(*cities: str):
    """Does something."""


def unnamed(city: str, /):
    """Does something."""


def bad_default(days: Annotated[int, Range(1, 7)] = 9):
    """Does something."""


def no_docstring(city: str): ...


def too_long(city: Annotated[str, "x" * 9000]):
    """Does something."""


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (no_type, "'city' of no_type cannot be described: it has no type"),
        (further, "'*cities' of further cannot be described"),
        (unnamed, "'city' of unnamed cannot be described"),
        (bad_default, "'days' of bad_default cannot be described: its default does not fit: expected at most 7, got 9"),
        (no_docstring, "no_docstring has no docstring"),
        (too_long, "The schema of too_long is not valid"),
    ],
)
def test_a_function_that_cannot_be_a_tool_is_told_why(function: Any, text: str) -> None:
    with pytest.raises(SchemaInvalid) as caught:
        make_schema(tool(function).definition)
    assert text in caught.value.message
    assert caught.value.hint


@tool(name="weather")
def forecast(
    city: Annotated[str, "Name of the city, such as Oslo"],
    days: Annotated[int, "Days to look ahead", Range(1, 7)] = 3,
    unit: Literal["C", "F"] = "C",
    *,
    context: Context,
) -> Trip:
    """Tells the weather of a city.

    Use it for questions about today.
    """
    raise NotImplementedError


def test_the_whole_schema_breaks_no_rule_and_warns_of_nothing() -> None:
    made = make_schema(forecast.definition)
    assert check(made, name="weather") == []
    assert made == {
        "name": "weather",
        "description": "Tells the weather of a city.\n\nUse it for questions about today.",
        "parameters": {
            "type": "object",
            "properties": {
                "city": TEXT | {"description": "Name of the city, such as Oslo"},
                "days": WHOLE | {"description": "Days to look ahead (default: 3)", "minimum": 1, "maximum": 7},
                "unit": TEXT | {"description": "Default: C", "enum": ["C", "F"]},
            },
            "required": ["city"],
        },
    }


def test_a_result_that_is_a_typed_dict_has_a_schema() -> None:
    height = {"description": "In metres", "anyOf": [{"type": "number", "minimum": 0}, {"type": "null"}]}
    place = {**PLACE, "properties": {**PLACE["properties"], "height": height}, "required": ["name", "height", "tags"]}
    by = TEXT | {"description": "Means", "enum": ["train", "car"]}
    assert make_result_schema(forecast.definition) == {
        "type": "object",
        "properties": {"to": place, "by": by},
        "required": ["to"],
    }


def test_a_result_of_another_type_has_none() -> None:
    assert make_result_schema(tool(bad_default).definition) is None
