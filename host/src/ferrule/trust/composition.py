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
    return bool(fitting([tool], names))


def fitting(tools: Sequence[InstalledTool], names: Sequence[str]) -> list[InstalledTool]:
    """Those of the tools that fit; the metadata of what is installed is read once for all of them."""
    by_group = [tool for tool in tools if not coverage.covers("tools", names, tool.name)]
    groups = [name.removeprefix(entries.GROUP) for name in names if name.startswith(entries.GROUP)]
    if by_group and groups:
        sources = {source for group in groups for _, _, source in discovery.entry_points(group)}
        by_group = [tool for tool in by_group if tool.source not in sources]
    return [tool for tool in tools if tool not in by_group]
