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


def stamp(path: str) -> str:
    """The stamp of a file or folder, and its path; a file that is not there has one, too."""
    try:
        facts = os.stat(path)
    except (OSError, ValueError):
        return f"-\t{path}"
    return f"{facts.st_mtime_ns} {facts.st_ctime_ns} {facts.st_size} {facts.st_ino}\t{path}"


def stamps(paths: Iterable[str]) -> list[str]:
    """The present stamps of files and folders, to be taken before they are read."""
    return [stamp(path) for path in dict.fromkeys(paths)]


def hold(lines: Iterable[str]) -> bool:
    """Whether nothing has changed since these stamps were taken."""
    return all(stamp(line.partition("\t")[2]) == line for line in lines)


def are_settled(lines: Iterable[str]) -> bool:
    """Whether a change from now on will be seen: nothing changed so lately that it can change again unseen.

    A path with a line break has no stamp that could be written down.
    """
    known = list(lines)
    times = (line.partition("\t")[0].split() for line in known)
    newest = max((int(moment) for found in times for moment in found[:2] if moment != "-"), default=0)
    return newest <= time.time_ns() - _TICK_NS and not any("\n" in line for line in known)
