"""The tool as a client sees it, and its hooks."""

from collections.abc import Callable

import pytest
from ferrule import ToolError
from ferrule_dev.testing import Tool

TOOL = "new_hooks"


def test_it_passes_the_check(ferrule_tool: Callable[[str], Tool]) -> None:
    """This follows schema.json, and calls the tool with the examples of tool.json; it stays as it is."""
    ferrule_tool(TOOL).check()


# ---- what this tool does: write your own


def test_a_city_is_greeted(ferrule_tool: Callable[[str], Tool]) -> None:
    tool = ferrule_tool(TOOL)
    run = tool.run({**tool.examples[0], "city": " Oslo "})
    assert run.document == {"success": True, "greeting": "Hello, Oslo!"}


def test_a_blank_city_is_refused(ferrule_tool: Callable[[str], Tool]) -> None:
    tool = ferrule_tool(TOOL)
    run = tool.run({**tool.examples[0], "city": "  "})
    assert (run.exit_code, run.document["error_code"]) == (1, "INVALID_INPUT")
    assert "city: it is blank" in run.document["error"]


def test_what_is_no_city_is_an_error_that_says_what_to_do(ferrule_tool: Callable[[str], Tool]) -> None:
    tool = ferrule_tool(TOOL)
    with pytest.raises(ToolError, match="not the name of a city") as caught:
        tool.call({**tool.examples[0], "city": "Os10"})
    assert (caught.value.code, caught.value.hint) == ("NOT_A_CITY", "Send the name without digits.")
