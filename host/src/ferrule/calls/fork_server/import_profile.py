"""What the calls of a tool imported, so that its next process has imported it before the call.

Many plugins import what is heavy where they need it first, which a process for one call does each time. A tool that
depends on what such an import finds (a variable that it has set before) opts out: `import_ahead = false` in its table.
"""

from __future__ import annotations

from collections.abc import Sequence

from ferrule import config
from ferrule.errors import FerruleError

_MAX_ROUNDS = 4  # times that a plugin is loaded anew because its calls have imported something more
_MAX_MODULES = 1000


class ImportProfile:
    """The names of modules by tool, in the order in which they were imported."""

    def __init__(self) -> None:
        self._modules: dict[str, list[str]] = {}
        self._rounds: dict[str, int] = {}

    def modules(self, tool: str) -> list[str]:
        """What is to be imported with the tool."""
        return list(self._modules.get(tool, ()))

    def learn(self, tool: str, modules: Sequence[str]) -> bool:
        """Take what a call has imported; True where the tool is to be loaded anew for it."""
        known = self._modules.get(tool, [])
        new = [name for name in modules if name not in known]
        rounds = self._rounds.get(tool, 0)
        if not new or rounds >= _MAX_ROUNDS or not _is_wanted(tool):
            return False
        self._rounds[tool] = rounds + 1
        self._modules[tool] = [*known, *new][:_MAX_MODULES]
        return True

    def unlearn(self, tool: str) -> None:
        """Import nothing ahead for this tool any more: it did it no good."""
        self._modules.pop(tool, None)
        self._rounds[tool] = _MAX_ROUNDS


def _is_wanted(tool: str) -> bool:
    try:
        return config.read().tool(tool).get("import_ahead") is not False
    except FerruleError:
        return False
