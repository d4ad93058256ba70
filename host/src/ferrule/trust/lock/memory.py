"""That a tool was as ferrule.lock has it, remembered by the stamps of all files that decide it.

A remembered tool costs a call one small file and a look at each of those files.
"""

from __future__ import annotations

import os

from ferrule.config.own_folders import state_folder
from ferrule.schema import schema_file
from ferrule.storage import private_files, stamps
from ferrule.text.sha256 import sha256_hex

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ferrule.discovery import InstalledTool

_FORM = "ferrule lock memory 1"
_MAX_BYTES = 1 << 22


def holds(tool: InstalledTool, lock_path: str) -> bool:
    """Whether nothing has changed since the tool was last found to be as the lock has it."""
    try:
        data = private_files.read_file(_path(tool, lock_path), _MAX_BYTES)
    except OSError:
        return False
    if data is None:
        return False
    head, *lines = os.fsdecode(data).split("\n")
    if head != _head(tool):
        return False
    return stamps.hold(lines)


def is_closed(path: str) -> bool:
    """Whether this process must not read a file that is there."""
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK))
    except PermissionError:
        return True
    except OSError:
        return False
    return False


def remember(tool: InstalledTool, lock_path: str, stamped: Iterable[str]) -> None:
    """Keep that the tool was as the lock has it when the files had these stamps. Where that fails, calls cost time."""
    lines = list(stamped)
    if not stamps.are_settled(lines):
        return
    path = _path(tool, lock_path)
    try:
        private_files.make_folder(os.path.dirname(path))
        private_files.replace_file(path, os.fsencode("\n".join([_head(tool), *lines])))
    except OSError:
        return


def _head(tool: InstalledTool) -> str:
    """What the tool is, and which of the modules on the path it would import now."""
    found = schema_file.find_module_file(tool.module) or ""
    return "\t".join((_FORM, tool.name, tool.value, tool.failures or "", tool.source, found)).replace("\n", " ")


def _path(tool: InstalledTool, lock_path: str) -> str:
    key = sha256_hex("\0".join((lock_path, tool.metadata, tool.name)).encode(errors="surrogateescape"))
    return os.path.join(state_folder(), "lock", key[:32])
