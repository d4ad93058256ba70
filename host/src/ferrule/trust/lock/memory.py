"""That a tool was as ferrule.lock has it, remembered by the times of all files that decide it.

A remembered tool costs a call one small file and a look at each of those files. The time at which a file's inode has
changed is among what is compared, since the time of modification can be set.
"""

from __future__ import annotations

import os
import time

from ferrule.schema import schema_file
from ferrule.storage import private_files
from ferrule.storage.state import state_folder
from ferrule.text.sha256 import sha256_hex

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ferrule.discovery import InstalledTool

_FORM = "ferrule lock memory 1"
_MAX_BYTES = 1 << 22
_TICK_NS = 50_000_000  # in which a file can change twice and keep its times


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
    return all(stamp(line.partition("\t")[2]) == line for line in lines)


def is_closed(path: str) -> bool:
    """Whether this process must not read a file that is there."""
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK))
    except PermissionError:
        return True
    except OSError:
        return False
    return False


def stamps(paths: Iterable[str]) -> list[str]:
    """The present stamps of files and folders, to be taken before they are read."""
    return [stamp(path) for path in dict.fromkeys(paths)]


def stamp(path: str) -> str:
    """What stands for the present state of a file or folder, and its path; a file that is not there has one, too."""
    try:
        facts = os.stat(path)
    except OSError:
        return f"-\t{path}"
    return f"{facts.st_mtime_ns} {facts.st_ctime_ns} {facts.st_size} {facts.st_ino}\t{path}"


def remember(tool: InstalledTool, lock_path: str, stamped: Iterable[str]) -> None:
    """Keep that the tool was as the lock has it when the files had these stamps. Where that fails, calls cost time."""
    lines = list(stamped)
    if any("\n" in line for line in lines) or _newest_ns(lines) > time.time_ns() - _TICK_NS:
        return
    path = _path(tool, lock_path)
    try:
        private_files.make_folder(os.path.dirname(path))
        private_files.replace_file(path, os.fsencode("\n".join([_head(tool), *lines])))
    except OSError:
        return


def _newest_ns(lines: Iterable[str]) -> int:
    times = (line.partition("\t")[0].split() for line in lines)
    return max((int(moment) for found in times for moment in found[:2] if moment != "-"), default=0)


def _head(tool: InstalledTool) -> str:
    """What the tool is, and which of the modules on the path it would import now."""
    found = schema_file.find_module_file(tool.module) or ""
    return "\t".join((_FORM, tool.name, tool.value, tool.failures or "", tool.source, found)).replace("\n", " ")


def _path(tool: InstalledTool, lock_path: str) -> str:
    key = sha256_hex("\0".join((lock_path, tool.metadata, tool.name)).encode(errors="surrogateescape"))
    return os.path.join(state_folder(), "lock", key[:32])
