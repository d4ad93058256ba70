"""The tool as a client sees it, and its function."""

from collections.abc import Callable
from pathlib import Path

import pytest
from ferrule import ToolError
from ferrule_dev.testing import Tool

TOOL = "new_cli"


def test_it_passes_the_check(ferrule_tool: Callable[[str], Tool]) -> None:
    """This follows the function, and calls the tool with the examples of tool.json; it stays as it is."""
    ferrule_tool(TOOL).check()


# ---- what this tool does: write your own


def test_lines_are_sorted_as_is_wanted(ferrule_tool: Callable[[str], Tool]) -> None:
    tool = ferrule_tool(TOOL)
    arguments = {**tool.examples[0], "lines": ["b", "a", "--help", "b"]}
    assert tool.call(arguments)["lines"] == ["--help", "a", "b", "b"]
    assert tool.call({**arguments, "reverse": True, "unique": True})["lines"] == ["b", "a", "--help"]


def test_a_missing_program_is_an_error_that_names_it(
    ferrule_tool: Callable[[str], Tool], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tool = ferrule_tool(TOOL)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolError, match="sort is not installed") as caught:
        tool.call(tool.examples[0])
    assert caught.value.code == "PROGRAM_MISSING"
