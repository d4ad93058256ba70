"""Whether the record of a tool is of the version that is installed, found out without what it takes to compare them.

A schema is printed in a few milliseconds, so that it asks this first. Only a tool of another version than the one that
was accepted can ask for more, but for one whose project is edited in its place.
"""

from __future__ import annotations

import os

from ferrule.config.own_folders import state_folder
from ferrule.text import strict_json
from ferrule.text.names import record_name

TYPE_CHECKING = False

if TYPE_CHECKING:
    from ferrule.discovery import InstalledTool

FOLDER = "permissions"
_MAX_BYTES = 1 << 18


def path_of(name: str) -> str:
    """Where the record of a tool is."""
    return os.path.join(state_folder(), FOLDER, f"{record_name(name)}.json")


def is_of_another_version(tool: InstalledTool) -> bool:
    """Whether something is recorded of the tool, and not of this version of it."""
    try:
        file = os.open(path_of(tool.name), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    except OSError:
        return True  # what cannot be read is not trusted
    try:
        data = os.read(file, _MAX_BYTES)
    except OSError:
        return True
    finally:
        os.close(file)
    return strict_json.dumps({"source": tool.source})[1:-1] not in data
