"""What entries such as `.`, `setting:notebook` and `variable:HOME` stand for here and now, in a person's words."""

from __future__ import annotations

import os

from ferrule.trust import entries
from ferrule.trust.grants import granted
from ferrule.trust.policy import refused_entries
from ferrule.trust.resolution.resolver import Resolution

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrule.config.configuration import Configuration
    from ferrule.discovery import InstalledTool


def places(tool: InstalledTool, settings: Configuration) -> list[str]:
    """One phrase for each such entry, and for each that is not granted. Raises ConfigurationMalformed."""
    return list(_places(tool, settings))


def indirect_places(tool: InstalledTool, settings: Configuration) -> list[str]:
    """The same in one phrase, of what the words of the declaration do not show; `[]` where they show all."""
    names = [*granted(tool, settings).read, *granted(tool, settings).write]
    if not any(entries.is_indirect(one) or one.startswith((".", "~")) for one in names):
        return []
    found = [one for one in places(tool, settings) if not one.startswith("~") or "is not granted" in one]
    return [f"here {', '.join(found)}"] if found else []


def _places(tool: InstalledTool, settings: Configuration) -> Iterator[str]:
    here, permissions = Resolution(settings.tool(tool.name), os.environ), granted(tool, settings)
    refused = refused_entries(tool, settings)
    for entry in dict.fromkeys((*permissions.read, *permissions.write)):
        found = here.paths([entry]) if entry != entries.SHOWN else []
        if entry in refused:
            yield f"{entry} is not granted: {', '.join(found) or 'it'} {refused.pop(entry)}"
        elif entries.is_indirect(entry) or entry.startswith((".", "~", entries.CONFIG)):
            if found:
                yield f"{entry} is {', '.join(found)}"
            elif entries.is_indirect(entry):
                yield f"{entry} is nothing"
    for path, why in refused.items():
        yield f"{path} is not granted: it {why}"
