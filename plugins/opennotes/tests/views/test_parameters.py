"""What the placeholders of a view stand for: parameters and template variables."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from ferrule import ToolError
from ferrule_opennotes.views import variables
from ferrule_opennotes.views.definitions import DefinitionError, Parameter, parse_parameters
from ferrule_opennotes.views.parameters import Values, fill

# A Saturday, and the last day of a month.
NOW = datetime(2026, 1, 31, 15, 30, 45, tzinfo=timezone(timedelta(hours=2)))


def values(*stated: Parameter, **given: Any) -> Values:
    """The values of a view with these parameters."""
    return fill("mine", stated, given, NOW)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("today", "2026-01-31"),
        ("yesterday", "2026-01-30"),
        ("today-31", "2025-12-31"),
        ("today+1", "2026-02-01"),
        ("today-0", "2026-01-31"),
        ("this_week", "2026-01-26"),
        ("this_week+1", "2026-02-02"),
        ("this_week-5", "2025-12-22"),
        ("next_week", "2026-02-02"),
        ("last_week", "2026-01-19"),
        ("this_month", "2026-01-01"),
        ("this_month+1", "2026-02-01"),
        ("this_month-1", "2025-12-01"),
        ("this_month-13", "2024-12-01"),
        ("next_month", "2026-02-01"),
        ("last_month", "2025-12-01"),
        ("start_of_month", "2026-01-01"),
        ("end_of_month", "2026-01-31"),
        ("quarter", "Q1"),
        ("start_of_quarter", "2026-01-01"),
        ("end_of_quarter", "2026-03-31"),
        ("year", "2026"),
        ("now", "2026-01-31T15:30:45+02:00"),
    ],
)
def test_template_variables(name: str, value: str) -> None:
    assert variables.resolve(name, NOW) == value
    assert values().text(f"a {{{{{name}}}}} b {{{{ {name} }}}}") == f"a {value} b {value}"


@pytest.mark.parametrize(
    ("day", "week"), [(19, "2026-01-19"), (20, "2026-01-19"), (25, "2026-01-19"), (26, "2026-01-26")]
)
def test_a_week_begins_on_monday(day: int, week: str) -> None:
    assert variables.resolve("this_week", NOW.replace(day=day)) == week


@pytest.mark.parametrize(("month", "ends"), [(2, "2026-02-28"), (4, "2026-04-30"), (12, "2026-12-31")])
def test_months_end_when_they_end(month: int, ends: str) -> None:
    now = datetime(2026, month, 15, tzinfo=UTC)
    assert variables.resolve("end_of_month", now) == ends


@pytest.mark.parametrize(
    ("month", "quarter", "begins", "ends"),
    [
        (3, "Q1", "01-01", "03-31"),
        (4, "Q2", "04-01", "06-30"),
        (9, "Q3", "07-01", "09-30"),
        (12, "Q4", "10-01", "12-31"),
    ],
)
def test_quarters(month: int, quarter: str, begins: str, ends: str) -> None:
    now = datetime(2026, month, 30, tzinfo=UTC)
    assert variables.resolve("quarter", now) == quarter
    assert variables.resolve("start_of_quarter", now) == f"2026-{begins}"
    assert variables.resolve("end_of_quarter", now) == f"2026-{ends}"


@pytest.mark.parametrize(
    "name", ["", "tomorrow", "today*1", "this_week+", "today-999999", "this_month-999999", "TODAY"]
)
def test_no_such_variable(name: str) -> None:
    assert variables.resolve(name, NOW) is None
    with pytest.raises(DefinitionError, match="neither a parameter"):
        values().text(f"{{{{{name}}}}}")


def test_the_environment_gives_out_no_more_than_who_and_where(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("USER", "ada")
    monkeypatch.setenv("LANG", "")
    monkeypatch.setenv("BRAVE_API_KEY", "the-secret")
    text = values().text
    assert text("{{env:USER}}") == "ada"
    assert text("{{env:nobody:USER}}") == "ada"
    assert text("{{env:C:LANG}}") == "C"
    assert text("{{env:BRAVE_API_KEY}}") == ""
    assert text("{{env:none:BRAVE_API_KEY}}") == "none"
    assert text("{{env:a:b:BRAVE_API_KEY}}") == "a:b"
    assert text("{{env: BRAVE_API_KEY}}") == ""


def test_a_value_is_never_looked_through_for_placeholders() -> None:
    found = values(Parameter("a"), Parameter("b"), a="{{b}} {{today}} {{env:USER}}", b="x")
    assert found.text("<{{a}}>") == "<{{b}} {{today}} {{env:USER}}>"


def test_a_parameter_hides_a_variable_of_its_name() -> None:
    assert values(Parameter("today"), today="mine").text("{{today}}") == "mine"


def test_commas_stay_in_a_text_and_divide_a_list() -> None:
    found = values(Parameter("text"), Parameter("list", "list"), text="a, b", list="a, b ,c")
    assert found.text("{{text}}") == "a, b"
    assert found.alternatives("{{text}}") == ["a, b"]
    assert found.alternatives("{{list}}") == ["a", "b", "c"]
    assert found.alternatives("x{{list}}") == ["xa, b ,c"]


def test_defaults_fill_in_and_may_be_variables() -> None:
    stated = parse_parameters(
        [
            {"name": "since", "type": "date", "default": "{{this_week}}"},
            {"name": "status", "type": "list", "default": ["todo", "done"]},
            {"name": "all", "type": "bool", "default": False},
        ]
    )
    found = values(*stated)
    assert found.text("{{since}} {{status}} {{all}}") == "2026-01-26 todo,done false"


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("string", "any {{text}}"),
        ("string", "x" * 1000),
        ("list", "a"),
        ("list", ",".join(["x" * 100] * 50)),
        ("date", "2026-01-24"),
        ("date", "2026-01-24T10:00:00Z"),
        ("date", " 2026-01-24 "),
        ("bool", "TRUE"),
        ("number", "-3.5"),
    ],
)
def test_values_that_fit_their_type(kind: str, value: str) -> None:
    expected = value.strip() if kind in ("date", "bool", "number") else value
    assert values(Parameter("p", kind), p=value).text("{{p}}") == expected


@pytest.mark.parametrize(
    ("value", "day"),
    [("{{today}}", "2026-01-31"), ("{{today-30}}", "2026-01-01"), ("{{now}}", "2026-01-31T15:30:45+02:00")],
)
def test_a_date_may_be_given_as_a_variable(value: str, day: str) -> None:
    assert values(Parameter("p", "date"), p=value).text("{{p}}") == day


@pytest.mark.parametrize(
    ("kind", "value", "reason"),
    [
        ("string", "", "is empty"),
        ("string", "  ", "is empty"),
        ("list", "a,,b", "has an empty item"),
        ("list", ",", "has an empty item"),
        ("date", "24.01.2026", "is no date"),
        ("date", "2026-02-30", "is no date"),
        ("date", "today", "is no date"),
        ("date", "{{quarter}}", "is no date"),
        ("date", "{{env:USER}}", "is no date"),
        ("bool", "yes", "is neither true nor false"),
        ("number", "three", "is no number"),
    ],
)
def test_values_that_do_not_fit_their_type(kind: str, value: str, reason: str) -> None:
    with pytest.raises(ToolError, match=f"'mine': its parameter 'p' {reason}") as caught:
        values(Parameter("p", kind), p=value)
    assert caught.value.code == "INVALID_INPUT"


def test_an_unknown_parameter_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(ToolError, match="it has no parameter 'stauts'") as caught:
        values(Parameter("status", "list"), Parameter("who", required=True), stauts="x")
    assert caught.value.hint == "Its parameters: status (list), who (string, required)."


def test_a_required_parameter_is_demanded() -> None:
    with pytest.raises(ToolError, match="it needs the parameter 'who'"):
        values(Parameter("who", required=True))


def test_a_parameter_without_any_value_has_none_to_fill_in() -> None:
    with pytest.raises(DefinitionError, match="who}} is neither a parameter that has a value"):
        values(Parameter("who")).text("{{who}}")


@pytest.mark.parametrize(
    ("stated", "reason"),
    [
        ({}, "are no list"),
        ("x", "are no list"),
        ([1], "has no name"),
        ([{"type": "string"}], "has no name"),
        ([{"name": "p", "type": "color"}], "has the type 'color'"),
        ([{"name": "p"}, {"name": "p"}], "the same name"),
    ],
)
def test_parameters_that_make_no_sense(stated: Any, reason: str) -> None:
    with pytest.raises(DefinitionError, match=reason):
        parse_parameters(stated)
