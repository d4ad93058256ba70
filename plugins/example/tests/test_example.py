"""The tool `example`, through its executable: what a client sends, and what it gets."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import ferrule_example as plugin
from ferrule import ToolError
from ferrule_dev.testing import Tool

ARGUMENTS = {"city": "Oslo"}  # of a call that succeeds


@pytest.fixture
def example(ferrule_tool: Callable[[str], Tool]) -> Tool:
    """The tool, in an environment of the test's own."""
    return ferrule_tool("example")


# ---- what holds for any tool: read from schema.json, so these tests stay as they are

SCHEMA = json.loads(Path(plugin.__file__).with_name("schema.json").read_text())
PARAMETERS = SCHEMA["parameters"]


@pytest.mark.process
def test_the_executable_prints_the_schema_that_the_file_has(example: Tool) -> None:
    assert example.schema() == SCHEMA == plugin.schema()


@pytest.mark.process
def test_a_call_is_answered(example: Tool) -> None:
    run = example.run(ARGUMENTS)
    assert (run.exit_code, run.text) == (0, "")


@pytest.mark.process
@pytest.mark.parametrize("name", PARAMETERS.get("required", []))
def test_an_argument_that_is_required_is_missed(example: Tool, name: str) -> None:
    refuses(
        example, {key: value for key, value in ARGUMENTS.items() if key != name}, f"{name}: it is required and missing"
    )


@pytest.mark.process
@pytest.mark.parametrize("name", PARAMETERS["properties"])
def test_an_argument_of_another_type_is_refused(example: Tool, name: str) -> None:
    expected = PARAMETERS["properties"][name]["type"]
    refuses(example, {**ARGUMENTS, name: 5 if expected == "string" else "five"}, f"{name}: expected {expected}")


@pytest.mark.process
def test_an_argument_that_is_misspelt_is_refused(example: Tool) -> None:
    refuses(example, {**ARGUMENTS, "misspelt": 1}, "misspelt: there is no such argument")


# ---- what this tool does: write your own


@pytest.mark.process
def test_a_city_is_greeted(example: Tool) -> None:
    run = example.run({**ARGUMENTS, "city": " Oslo "})
    assert run.document == {"success": True, "greeting": "Hello, Oslo!"}


@pytest.mark.process
def test_a_blank_city_is_refused(example: Tool) -> None:
    refuses(example, {**ARGUMENTS, "city": "  "}, "city: it is blank")


def test_what_is_no_city_is_an_error_that_says_what_to_do(example: Tool) -> None:
    with pytest.raises(ToolError, match="not the name of a city") as caught:
        example.call({**ARGUMENTS, "city": "Os10"})
    assert (caught.value.code, caught.value.hint) == ("NOT_A_CITY", "Send the name without digits.")


def refuses(example: Tool, arguments: dict[str, object], reason: str) -> None:
    """Assert that the tool refuses the arguments for this reason."""
    run = example.run(arguments)
    assert (run.exit_code, run.document["error_code"]) == (1, "INVALID_INPUT")
    assert reason in run.document["error"]
