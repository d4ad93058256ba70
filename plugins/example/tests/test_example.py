"""The tool `example`, through its executable: what a client sends, and what it gets."""

import json
from pathlib import Path

import pytest

import ferrule_example as plugin
from ferrule import ToolError
from ferrule.testing import context, run_tool, schema_of


def test_the_executable_prints_the_schema_that_the_file_has() -> None:
    file = Path(plugin.__file__).with_name("schema.json")
    assert schema_of("example") == json.loads(file.read_text()) == plugin.schema()


def test_a_city_is_greeted() -> None:
    run = run_tool("example", {"city": " Oslo "})
    assert run.exit_code == 0
    assert run.document == {"success": True, "greeting": "Hello, Oslo!"}
    assert run.text == ""


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        pytest.param({}, "city: it is required and missing", id="nothing"),
        pytest.param({"city": 5}, "city: expected string, got integer 5", id="a-number"),
        pytest.param({"city": "  "}, "city: it is blank", id="blanks"),
        pytest.param({"town": "Oslo", "city": "Oslo"}, "town: there is no such argument", id="misspelt"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(arguments: dict[str, object], reason: str) -> None:
    run = run_tool("example", arguments)
    assert run.exit_code == 1
    assert run.document["error_code"] == "INVALID_INPUT"
    assert reason in run.document["error"]


def test_what_is_no_city_is_an_error_that_says_what_to_do() -> None:
    with pytest.raises(ToolError, match="not the name of a city") as caught:
        plugin.execute({"city": "Os10"}, context("example"))
    assert (caught.value.code, caught.value.hint) == ("NOT_A_CITY", "Send the name without digits.")
