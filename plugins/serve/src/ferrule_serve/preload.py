"""What the calls of a tool imported, so that its next process has imported it before the call.

Many plugins import what is heavy where they need it first, which a process for one call does each time. A tool that
depends on what such an import finds (a variable that it has set before) opts out: `import_ahead = false` in its table.
"""

from __future__ import annotations

from ferrule.config import configuration
from ferrule.errors import FerruleError

_ROUNDS = 4  # times that a plugin is loaded anew because its calls have imported something more
_NAMES = 1000


class LearnedImports:
    """The names of modules by tool, in the order in which they were imported."""

    def __init__(self) -> None:
        self._names: dict[str, list[str]] = {}
        self._rounds: dict[str, int] = {}

    def of(self, tool: str) -> list[str]:
        """What is to be imported with the tool."""
        return list(self._names.get(tool, ()))

    def learn(self, tool: str, names: list[str]) -> bool:
        """Take what a call has imported; True where the tool is to be loaded anew for it."""
        known = self._names.get(tool, [])
        new = [name for name in names if name not in known]
        rounds = self._rounds.get(tool, 0)
        if not new or rounds >= _ROUNDS or not _is_wanted(tool):
            return False
        self._rounds[tool] = rounds + 1
        self._names[tool] = [*known, *new][:_NAMES]
        return True

    def unlearn(self, tool: str) -> None:
        """Import nothing ahead for this tool any more: it did it no good."""
        self._names.pop(tool, None)
        self._rounds[tool] = _ROUNDS


def _is_wanted(tool: str) -> bool:
    try:
        return configuration.read().tool(tool).get("import_ahead") is not False
    except FerruleError:
        return False
