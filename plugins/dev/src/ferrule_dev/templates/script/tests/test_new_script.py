"""The tool as a client sees it."""

from collections.abc import Callable
from pathlib import Path

from ferrule_dev.testing import Tool

BIN = Path(__file__).parent.parent / "bin"
TOOL = str(BIN / "new-script-tool")
EXAMPLE = {"city": "Oslo"}  # arguments that are answered


def test_it_passes_the_check(ferrule_tool: Callable[[str], Tool]) -> None:
    """This makes its arguments from the schema; it stays as it is."""
    ferrule_tool(TOOL).check()


# ---- what this tool does: write your own


def test_a_city_is_greeted(ferrule_tool: Callable[[str], Tool]) -> None:
    run = ferrule_tool(TOOL).run({**EXAMPLE, "city": " Oslo "})
    assert run.document == {"success": True, "greeting": "Hello, Oslo!"}


def test_what_is_no_city_is_an_error_that_says_what_to_do(ferrule_tool: Callable[[str], Tool]) -> None:
    run = ferrule_tool(TOOL).run({**EXAMPLE, "city": "Os10"})
    assert (run.exit_code, run.document["error_code"]) == (1, "NOT_A_CITY")
    assert "without digits" in run.document["error"]
