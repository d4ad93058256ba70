"""The memory of the programs that a call starts: what they use is bounded, not what they reserve.

The address space of such a program says little about it: JavaScript engines and garbage collectors reserve many times
what they use. So the supervising process adds up what a call's processes have in memory, as long as the call runs and
no group of the kernel holds them.
"""

from __future__ import annotations

import os
import time

from ferrule.confinement.broker.family import children_of
from ferrule.errors import OutOfMemory
from ferrule.supervision import processes

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from ferrule.supervision.memory.group import MemoryGroup

_TICK_SECONDS = 0.05
_SHARE_OF_TIME = 0.02  # of the processor, for looking
_MIB_SHIFT = 20
_MAX_PROCESSES = 1_000
_PAGE_BYTES = os.sysconf("SC_PAGESIZE")


class MemoryWatch:
    """Looks at the processes of one call. due: the instant of `time.monotonic()` at which it should look next; None
    where it need not.
    """

    def __init__(
        self,
        child: int,
        limit_mib: int,
        tool: str = "",
        others: Collection[int] | None = None,
        *,
        group: MemoryGroup | None = None,
        member: int | None = None,
    ) -> None:
        """Watch the processes of one call.

        Args:
            child: the process of the call.
            tool: its name.
            others: the children of this process that have nothing to do with the call, where orphans of the call become
                children of this process; None where they do not.
            group: what holds the memory of the call instead of this, once it holds member.
            member: the child by default.
        """
        self._child = child
        self._limit_mib = limit_mib
        # A copy of a large program shares that one's memory, which the call has not taken.
        self._limit_bytes = (limit_mib << _MIB_SHIFT) + _resident_bytes(child)
        self._tool = tool
        self._others = others
        self._group = group
        self._member = child if member is None else member
        self.due: float | None = time.monotonic() + _TICK_SECONDS

    def check(self) -> OutOfMemory | None:
        """Look, where that is due: the failure of the call where its processes use more than they may together."""
        if self.due is None or time.monotonic() < self.due:
            return None
        if self._group is not None and self._group.holds(self._member):
            self.due = None
            return None
        used = time.thread_time()  # and not the time that passes, in which others may have the processor
        is_too_much = self._is_too_much()
        used = time.thread_time() - used
        self.due = time.monotonic() + max(_TICK_SECONDS, used / _SHARE_OF_TIME)
        return out_of_memory(self._tool, self._limit_mib) if is_too_much else None

    def explain_end(self) -> OutOfMemory | None:
        """Why the process of the call has ended, where the kernel has ended it because of its memory."""
        if self._group is None or not self._group.has_overflowed():
            return None
        return out_of_memory(self._tool, self._limit_mib)

    def _is_too_much(self) -> bool:
        """What several processes share counts once, which is asked only where it makes a difference."""
        limit, family = self._limit_bytes, list(self._family())
        return sum(map(_resident_bytes, family)) > limit and sum(map(_own_bytes, family)) > limit

    def _family(self) -> Iterator[int]:
        waiting = [self._child]
        if self._others is not None:
            waiting += processes.children().difference(self._others, waiting)
        for _ in range(_MAX_PROCESSES):
            if not waiting:
                return
            process = waiting.pop()
            yield process
            waiting += children_of(process)


def out_of_memory(tool: str, limit_mib: int) -> OutOfMemory:
    """The failure of a call whose processes have used more than that."""
    return OutOfMemory(
        f"The tool and the programs that it started used more than {limit_mib:,} MiB of memory together.",
        hint="Ask for less.",
        admin="Raise `memory` (MiB) of the tool: "
        f"`[tools.{tool or 'NAME'}] memory = {2 * limit_mib}` in config.toml, or FERRULE_MEMORY={2 * limit_mib}.",
        details={"limit": "memory", "memory_mib": limit_mib},
    )


def _resident_bytes(process: int) -> int:
    """What a process has in memory; 0 where it has ended."""
    try:
        with open(f"/proc/{process}/statm", "rb", buffering=0) as file:
            return int(file.read(128).split()[1]) * _PAGE_BYTES
    except (OSError, IndexError, ValueError):
        return 0


def _own_bytes(process: int) -> int:
    """The same with its part of what it shares, and with what was moved to the disk."""
    try:
        with open(f"/proc/{process}/smaps_rollup", "rb", buffering=0) as file:
            lines = (line.split() for line in file.read(8192).splitlines())
            return sum(int(words[1]) << 10 for words in lines if words[0] in (b"Pss:", b"SwapPss:"))
    except (OSError, IndexError, ValueError):
        return _resident_bytes(process)
