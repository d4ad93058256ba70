"""Whose words a failure is in: a code that only the host can know counts where the host knows it."""

from pathlib import Path

import pytest

from ferrule.discovery import InstalledTool, unknown
from ferrule.errors import ToolCrashed
from ferrule.plugin.attribution import attribute
from ferrule.supervision.channel.outcome import Outcome


@pytest.mark.parametrize(("is_there", "code"), [(True, "TOOL_ERROR"), (False, "TOOL_UNKNOWN")])
def test_that_a_tool_is_unknown_counts_where_it_is_gone(is_there: bool, code: str, tmp_path: Path) -> None:
    metadata = tmp_path / "dice-1.0.dist-info"
    if is_there:
        metadata.mkdir()
    tool = InstalledTool("dice", "dice", "ferrule-dice", "1.0", str(metadata))
    outcome = Outcome(None, unknown("dice").facts(), is_said=True)
    attribute(outcome, None, tool)
    assert outcome.failure is not None
    assert outcome.failure["code"] == code


@pytest.mark.parametrize(("is_there", "code"), [(True, "INTERNAL_ERROR"), (False, "TOOL_UNKNOWN")])
def test_a_tool_that_misses_its_files_since_it_is_gone_is_unknown(is_there: bool, code: str, tmp_path: Path) -> None:
    metadata = tmp_path / "dice-1.0.dist-info"
    if is_there:
        metadata.mkdir()
    tool = InstalledTool("dice", "dice", "ferrule-dice", "1.0", str(metadata))
    crashed = ToolCrashed("The tool crashed with FileNotFoundError: [Errno 2] No such file or directory: 'faces.json'.")
    outcome = Outcome(None, crashed.facts(), is_said=True)
    attribute(outcome, None, tool)
    assert outcome.failure is not None
    assert outcome.failure["code"] == code
