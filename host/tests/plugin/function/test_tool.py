"""A function as a tool: what it is given, what it returns, and that it stays a function."""

from __future__ import annotations

import asyncio
import datetime
import enum
import functools
import pathlib
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypedDict

import pytest

import ferrule
from ferrule import Credential, Range, ResultPolicy, tool
from ferrule.discovery import InstalledTool
from ferrule.errors import SchemaInvalid
from ferrule.plugin.function.schema import make_result_schema, make_schema
from ferrule.plugin.loader import load
from ferrule_dev.testing import context

if TYPE_CHECKING:
    from ferrule import Context

given: list[Any] = []
KEY = Credential("key", environment="MARKET_KEY", path="market.key")


class Unit(enum.Enum):
    KELVIN = "K"


@dataclass
class Place:
    name: str
    unit: Unit = Unit.KELVIN

    def __post_init__(self) -> None:
        if not self.name:
            raise ValueError("a place has a name")


@dataclass
class Counted:
    start: ClassVar[int] = 0
    number: int
    twice: int = field(init=False)

    def __post_init__(self) -> None:
        self.twice = 2 * self.number


class Trip(TypedDict, total=False):
    to: Place
    on: datetime.date


@tool
def convert(
    unit: Unit,
    place: Place | None = None,
    trips: list[Trip] | None = None,
    on: datetime.date | None = None,
    at: datetime.datetime | None = None,
    file: pathlib.PurePath | None = None,
    tags: set[str] = frozenset(),
    share: Annotated[float, Range(0, 1)] = 0,
) -> dict[str, Any]:
    """Returns what it was given."""
    given[:] = [unit, place, trips, on, at, file, tags, share]
    return {"given": [unit, place, trips, on, at, file, tags, share]}


@tool
def greet(city: str, *, context: Context) -> dict[str, str]:
    """Greets a city."""
    return {"greeting": f"Hello, {city}!", "tool": context.tool}


@tool
async def sleep(seconds: float, *, my_context: ferrule.Context) -> dict[str, float]:
    """Waits."""
    await asyncio.sleep(seconds)
    return {"slept": seconds, "left": my_context.remaining()}


@tool(
    name="market",
    credentials=[KEY],
    result_policy=ResultPolicy(cache_seconds=60),
    validate=lambda arguments: ["count: odd"] if arguments["count"] % 2 else [],
)
def buy(count: int) -> Place:
    """Buys."""
    return Place(str(count))


def execute(one: Any, arguments: dict[str, Any]) -> Any:
    assert one.validate(arguments) == []
    return one.execute(arguments, context(one.definition.name))


def test_arguments_are_of_the_types_that_the_signature_names() -> None:
    arguments = {
        "unit": "K",
        "place": {"name": "Oslo"},
        "trips": [{"to": {"name": "Bergen", "unit": "K"}, "on": "2025-01-02"}],
        "on": "2025-01-31",
        "at": "2025-01-31T12:30:00+01:00",
        "file": "a/b",
        "tags": ["a", "a"],
        "share": 1,
    }
    execute(convert, arguments)
    zone = datetime.timezone(datetime.timedelta(hours=1))
    assert given == [
        Unit.KELVIN,
        Place("Oslo"),
        [{"to": Place("Bergen"), "on": datetime.date(2025, 1, 2)}],
        datetime.date(2025, 1, 31),
        datetime.datetime(2025, 1, 31, 12, 30, tzinfo=zone),
        pathlib.PurePath("a/b"),
        {"a"},
        1.0,
    ]
    assert isinstance(given[-1], float)
    assert arguments["place"] == {"name": "Oslo"}, "the host's arguments stay as they are"


def test_results_become_json_again() -> None:
    place = {"name": "Oslo", "unit": "K"}
    result = execute(convert, {"unit": "K", "place": place, "on": "2025-01-31", "file": "a/b"})
    assert result == {"given": ["K", place, None, "2025-01-31", None, "a/b", [], 0]}


@pytest.mark.parametrize("value", [3, 0.5, False, [1, 2.5, True]])
def test_a_number_is_an_answer_too(value: Any) -> None:
    def measure() -> Any:
        """Measures."""
        return value

    assert execute(tool(measure), {}) == {"result": value}


@pytest.mark.parametrize("value", [[], ["a"], ["a", 1], [{"a": 1}], "text", None])
def test_what_is_content_or_nothing_stays_so(value: Any) -> None:
    def measure() -> Any:
        """Measures."""
        return value

    assert execute(tool(measure), {}) == value


def test_defaults_are_those_of_the_function() -> None:
    assert execute(convert, {"unit": "K"}) == {"given": ["K", None, None, None, None, None, [], 0]}


@pytest.mark.parametrize(
    ("arguments", "finding"),
    [
        ({"on": "tomorrow"}, "on: expected a date such as 2025-01-31, got 'tomorrow'"),
        ({"at": ""}, "at: expected a date and time such as 2025-01-31T12:30:00+01:00, got ''"),
        ({"trips": [{"on": "x"}]}, "trips: on: expected a date such as 2025-01-31, got 'x'"),
        ({"place": {"name": ""}}, "place: a place has a name"),
        ({"place": {"name": "Oslo", "land": "NO"}}, "place: land: Place has no such key"),
        ({"trips": [{"to": {"name": "Oslo"}, "by": "car"}]}, "trips: by: Trip has no such key"),
    ],
)
def test_a_value_that_is_none_of_its_type_is_a_finding(arguments: dict[str, Any], finding: str) -> None:
    assert convert.validate({"unit": "K", **arguments}) == [finding]


def test_a_context_is_given_by_its_type_whatever_the_parameter_is_called() -> None:
    assert execute(greet, {"city": "Oslo"}) == {"greeting": "Hello, Oslo!", "tool": "greet"}
    assert execute(sleep, {"seconds": 0})["left"] > 0


@functools.wraps(greet.__wrapped__)
def wrapped(**arguments: Any) -> Any:
    return {**greet(**arguments), "wrapped": "yes"}


@tool
def count(first: int = 1, last: Counted | None = None, context: Context | None = None) -> Counted:
    """Counts."""
    assert context is not None
    return last or Counted(first)


def test_a_context_may_be_optional_and_a_function_wrapped() -> None:
    assert execute(tool(wrapped), {"city": "Oslo"})["wrapped"] == "yes"
    assert execute(count, {"first": 3}) == {"number": 3, "twice": 6}, "fields, and no variables of the class"
    assert execute(count, {"last": {"number": 1}}) == {"number": 1, "twice": 2}
    made = make_schema(count.definition)["parameters"]["properties"]
    assert list(made) == ["first", "last"]
    assert list(made["last"]["properties"]) == ["number"]
    assert list((make_result_schema(count.definition) or {})["properties"]) == ["number", "twice"]


def test_a_coroutine_is_completed_inside_of_a_running_loop_too() -> None:
    async def call() -> Any:
        return execute(sleep, {"seconds": 0})

    assert asyncio.run(call())["slept"] == 0


def test_the_options_of_the_decorator_are_its_hooks() -> None:
    assert buy.definition.name == "market"
    assert buy.credentials() == [KEY]
    assert buy.result_policy().cache_seconds == 60
    assert buy.validate({"count": 3}) == ["count: odd"]
    assert execute(buy, {"count": 2}) == {"name": "2", "unit": "K"}


def test_it_stays_a_function() -> None:
    assert buy(2) == Place("2")
    assert greet("Oslo", context=context("x"))["tool"] == "x"
    assert (greet.__name__, greet.__doc__) == ("greet", "Greets a city.")


def test_arguments_of_another_schema_are_told_apart_from_a_defect_of_the_function() -> None:
    with pytest.raises(SchemaInvalid, match=r"not that of its function: .*'town'") as caught:
        greet.execute({"city": "Oslo", "town": "Oslo"}, context("greet"))
    assert caught.value.hint == "Run `ferrule schema --write greet`."


@pytest.mark.parametrize("wrong", [Place, 5, "text"])
def test_only_a_function_can_be_a_tool(wrong: Any) -> None:
    with pytest.raises(TypeError, match="@tool makes a tool of a function"):
        tool(wrong)


def test_the_loader_finds_all_hooks() -> None:
    loaded = load(InstalledTool("market", f"{__name__}:buy", "dist", "1", ""))
    assert loaded.schema()["name"] == "market"
    assert loaded.validate({"count": 1}) == ["count: odd"]
    assert loaded.credentials() == [KEY]


def test_the_decorator_has_the_name_of_a_room_and_works_however_it_is_imported() -> None:
    import ferrule.plugin.hooks.context as room

    assert room.Context is ferrule.Context
    assert ferrule.plugin is sys.modules["ferrule.plugin"]


@pytest.mark.parametrize(("bounds", "text"), [((), "needs a bound"), ((2, 1), "holds no number")])
def test_a_range_without_numbers_is_refused(bounds: tuple[int, ...], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        Range(*bounds)
