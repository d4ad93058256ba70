"""The tool as a client sees it, and its function."""

from collections.abc import Callable

import pytest
from ferrule import ToolError
from ferrule_dev.testing import Tool

TOOL = "new_function"


def test_it_passes_the_check(ferrule_tool: Callable[[str], Tool]) -> None:
    """This follows the function, and calls the tool with the examples of tool.json; it stays as it is."""
    ferrule_tool(TOOL).check()


# ---- what this tool does: write your own


def test_a_city_is_greeted_as_often_as_is_wanted(ferrule_tool: Callable[[str], Tool]) -> None:
    tool = ferrule_tool(TOOL)
    answer = tool.call({**tool.examples[0], "city": " Oslo ", "times": 2, "tone": "warm"})
    assert answer == {"success": True, "greetings": ["A warm hello, Oslo!"] * 2}


def test_what_is_no_city_is_an_error_that_says_what_to_do(ferrule_tool: Callable[[str], Tool]) -> None:
    tool = ferrule_tool(TOOL)
    run = tool.run({**tool.examples[0], "city": "Os10"})
    assert (run.exit_code, run.document["error_code"]) == (1, "NOT_A_CITY")
    with pytest.raises(ToolError) as caught:
        tool.call({**tool.examples[0], "city": "Os10"})
    assert caught.value.hint == "Send the name without digits."
