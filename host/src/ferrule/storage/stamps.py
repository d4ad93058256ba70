"""What stands for the present state of files, so that what was worked out of them is known to hold still.

The time at which a file's inode has changed is part of it, since the time of modification can be set.
"""

from __future__ import annotations

import os
import time

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable

_TICK_NS = 50_000_000  # in which a file can change twice and keep its times
_COARSE_TICK_NS = 2_000_000_000  # the same where the file system keeps whole seconds
_SECOND_NS = 1_000_000_000
_UNSETTLED = "?"  # before a stamp that may stay the same though the file changes


def stamp(path: str) -> str:
    """The stamp of a file or folder, and its path; a file that is not there has one, too.

    It says whether it was taken so soon after a change that another one would leave it as it is. That counts from now,
    and not from when the file has been read, which may take any time.
    """
    try:
        facts = os.stat(path)
    except (OSError, ValueError):
        return f"-\t{path}"
    mark = "" if _is_settled(facts) else _UNSETTLED
    return f"{mark}{facts.st_mtime_ns} {facts.st_ctime_ns} {facts.st_size} {facts.st_ino}\t{path}"


def stamps(paths: Iterable[str]) -> list[str]:
    """The present stamps of files and folders, to be taken before they are read."""
    return [stamp(path) for path in dict.fromkeys(paths)]


def hold(lines: Iterable[str]) -> bool:
    """Whether nothing has changed since these stamps were taken."""
    return all(stamp(line.partition("\t")[2]) == line for line in lines)


def are_settled(lines: Iterable[str]) -> bool:
    """Whether a change since these stamps were taken will be seen: nothing had changed so lately before.

    A path with a line break has no stamp that could be written down.
    """
    return not any(line.startswith(_UNSETTLED) or "\n" in line for line in lines)


def _is_settled(facts: os.stat_result) -> bool:
    newest = max(facts.st_mtime_ns, facts.st_ctime_ns)
    is_coarse = not (facts.st_mtime_ns % _SECOND_NS or facts.st_ctime_ns % _SECOND_NS)
    return newest <= time.time_ns() - (max(_COARSE_TICK_NS, _TICK_NS) if is_coarse else _TICK_NS)
