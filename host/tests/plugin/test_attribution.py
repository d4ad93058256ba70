"""Whose words a failure is in: a code that only the host can know counts where the host knows it."""

from pathlib import Path

import pytest

from ferrule.discovery import InstalledTool, unknown
from ferrule.errors import ToolCrashed
from ferrule.plugin.attribution import attribute
from ferrule.supervision.channel.outcome import Outcome

SAID = {
    "that it is unknown": (unknown("dice"), "TOOL_ERROR"),
    "that it misses a file": (
        ToolCrashed("The tool crashed with FileNotFoundError: [Errno 2] No such file or directory: 'faces.json'."),
        "INTERNAL_ERROR",
    ),
}
"""What a tool's process has said, and the code of that where the tool is installed still."""


@pytest.mark.parametrize("said", SAID)
@pytest.mark.parametrize("is_there", [True, False])
def test_that_a_tool_is_unknown_counts_where_it_is_gone(is_there: bool, said: str, tmp_path: Path) -> None:
    metadata = tmp_path / "dice-1.0.dist-info"
    if is_there:
        metadata.mkdir()
    tool = InstalledTool("dice", "dice", "ferrule-dice", "1.0", str(metadata))
    error, code = SAID[said]
    outcome = Outcome(None, error.facts(), is_said=True)
    attribute(outcome, None, tool)
    assert outcome.failure is not None
    assert outcome.failure["code"] == (code if is_there else "TOOL_UNKNOWN")
