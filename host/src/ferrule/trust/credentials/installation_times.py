"""When a tool was installed, by what its installer has written, which no code of a plugin can change."""

from __future__ import annotations

import os

from ferrule.schema import schema_file
from ferrule.text import strict_json

TYPE_CHECKING = False

if TYPE_CHECKING:
    from ferrule.discovery import InstalledTool

# pip and uv write the first one anew in each installation, also where they link the other files from a cache. Times of
# modification outlive a copy of the environment and a layer of an image, as those of a change of the inode do not.
_WRITTEN = ("RECORD", "INSTALLER", "METADATA", "PKG-INFO", "entry_points.txt")


def installed_at(tool: InstalledTool) -> float:
    """Seconds since 1970; for a tool in its author's folder, since its module or its declaration is as it is."""
    times = [_time(os.path.join(tool.metadata, name)) for name in _WRITTEN]
    found = next((one for one in times if one is not None), _time(tool.metadata)) or 0.0
    if not is_editable(tool):
        return found
    file = schema_file.find_module_file(tool.module)
    declared = schema_file.find_beside(tool.value, schema_file.DECLARATION)
    return max(found, *(_time(path) or 0.0 for path in (*([file] if file else []), *declared)), 0.0)


def is_editable(tool: InstalledTool) -> bool:
    """Whether it is installed from the folder of its author, where any file of it may have changed."""
    try:
        facts = strict_json.loads(schema_file.read_file(os.path.join(tool.metadata, "direct_url.json")))
    except (OSError, ValueError):
        return False
    folder = facts.get("dir_info") if isinstance(facts, dict) else None
    return isinstance(folder, dict) and folder.get("editable") is True


def _time(path: str) -> float | None:
    try:
        return os.stat(path).st_mtime_ns / 1e9 if path else None
    except OSError:
        return None
