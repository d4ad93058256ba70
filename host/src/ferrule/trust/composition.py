"""A tool that runs other tools, such as a search over all providers: which these are."""

from __future__ import annotations

from ferrule import discovery
from ferrule.trust import coverage, entries

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferrule.discovery import InstalledTool


def fits(tool: InstalledTool, names: Sequence[str]) -> bool:
    """Whether a list `tools` of permissions names a tool, or a group of plugins to which its distribution belongs."""
    if coverage.covers("tools", names, tool.name):
        return True
    groups = (name.removeprefix(entries.GROUP) for name in names if name.startswith(entries.GROUP))
    return any(source == tool.source for group in groups for _, _, source in discovery.entry_points(group))
