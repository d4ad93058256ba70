"""The tools that are loaded: for each one process that has imported the plugin, and the copies below it.

Where copies of such a process would not be as good as a fresh one, it takes one call itself, and another is started
for the next. Where the tool says that it may be used again, so are its copies, each as long as a call leaves nothing
changed in it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from ferrule.calls.fork_server.served_tool import ServedTool
from ferrule.calls.fork_server.surroundings import Request, Surroundings, interruption
from ferrule.supervision import processes
from ferrule.supervision.memory.group import remove_groups
from ferrule.trust.resolution.environment import is_harmless

if TYPE_CHECKING:
    from ferrule.calls.fork_server.facts import LoadedToolFacts
    from ferrule.confinement.policy import Policy
    from ferrule.discovery import InstalledTool
    from ferrule.errors import FerruleError

_MAX_LOADED = 64  # tools; the one that was not called for longest goes first


class Plugins:
    """All tools that are loaded."""

    def __init__(self, surroundings: Surroundings) -> None:
        self._surroundings = surroundings
        self._tools: dict[tuple[object, ...], ServedTool] = {}
        self._last: dict[tuple[object, ...], tuple[object, ...]] = {}

    def submit(self, request: Request) -> None:
        """Have a job executed. It may wait until the plugin is loaded."""
        policy = request.job.execution.policy
        if policy is None:
            raise ValueError("a served call is held to a policy")
        caller = request.job.execution.caller
        tool = self._get(
            request.job.tool, policy, request.job.memory_mib, request.variant, umask=caller.umask if caller else -1
        )
        request.give_up = partial(tool.forget, request)
        tool.submit(request)

    def prepare(self, tool: InstalledTool, policy: Policy, memory_mib: int) -> None:
        """Load a tool before its first call."""
        self._get(tool, policy, memory_mib).prepare()

    def cancel(self, request: Request, reason: FerruleError | None = None) -> None:
        """End a job, and all that it has started. reason: what it fails with, else as usual."""
        reason = reason or interruption()
        if request.work is not None:
            request.work.stop(reason)
        elif not request.is_done and request.give_up is not None:
            request.give_up(reason)

    def renew(self, name: str | None, when_done: Callable[[], None]) -> None:
        """Make no call from code that was loaded before now; tell when no idle process has it any more."""
        for tool in list(self._tools.values()):
            if name in (None, tool.name):
                tool.renew()
        self._surroundings.when_settled(when_done)

    def facts(self) -> list[LoadedToolFacts]:
        """What is loaded."""
        return [facts for tool in self._tools.values() if (facts := tool.facts()) is not None]

    @property
    def is_idle(self) -> bool:
        """Whether nothing is being loaded, started or ended."""
        return self._surroundings.is_settled and all(tool.is_idle for tool in self._tools.values())

    def handle_children(self) -> None:
        """A child of this process has ended: one that had loaded a plugin, or what a call has left behind."""
        for tool in list(self._tools.values()):
            tool.reap()
        self._surroundings.end_strays()

    def end(self) -> None:
        """End everything, now."""
        for process in processes.children():
            processes.end_descendants(process)
        remove_groups()
        for confined in self._surroundings.confined:
            confined.remove()

    def _get(
        self, tool: InstalledTool, policy: Policy, memory_mib: int, variant: object = None, umask: int = -1
    ) -> ServedTool:
        """What makes the calls of a tool.

        Args:
            tool: the tool.
            policy: what it may touch.
            memory_mib: of each process.
            variant: see `Request`.
            umask: of the caller, with which what the tool starts goes on, where that lasts.
        """
        is_lasting = self._surroundings.options.keeps and self._surroundings.lookups.is_lasting(tool)
        if is_lasting:
            policy = self._surroundings.lookups.share(tool, policy)
        key = self._find_lasting(tool, policy, umask) if is_lasting else (tool.name, variant)
        known = self._tools.get(key)
        identity = _identify(tool, policy, is_shared=is_lasting)
        if known is None:
            self._make_room()
            known = self._tools[key] = ServedTool(self._surroundings, tool.name, is_lasting=is_lasting)
        known.update(tool, policy, identity, memory_mib)
        return known

    def _find_lasting(self, tool: InstalledTool, policy: Policy, umask: int) -> tuple[object, ...]:
        """The key of what tools of one distribution share that may touch the same.

        What this tool had before is ended, where it may touch other things now. Variables of the login and the terminal
        do not count: callers of one user differ in them for no reason of the tool's.
        """
        environ = policy.environment or {}
        variant = umask, *sorted((name, environ[name]) for name in environ if not is_harmless(name))
        key = tool.metadata, variant, repr(_list_rights(policy, is_shared=True))
        before = self._last.get((tool.name, variant))
        if before not in (None, key) and before in self._tools:
            self._tools[before].retire()
        self._last[tool.name, variant] = key
        return key

    def _make_room(self) -> None:
        unused = [key for key, tool in self._tools.items() if not tool.is_busy]
        if len(self._tools) >= _MAX_LOADED and unused:
            oldest = min(unused, key=lambda key: self._tools[key].used)
            self._tools.pop(oldest).retire()
            self._last = {tool: key for tool, key in self._last.items() if key != oldest}  # a key has variables' values


def _identify(tool: InstalledTool, policy: Policy, *, is_shared: bool) -> tuple[object, ...]:
    """What changes when a distribution is installed anew, even in the same version, and when it may touch other things.

    The kernel holds a process to the files that the paths of its policy meant when it was started. is_shared: by the
    tools of a distribution.
    """
    paths = (*policy.read, *policy.write, *policy.append, *policy.programs)
    try:
        status = os.stat(tool.metadata)
        changed: tuple[int, ...] = (status.st_ino, status.st_ctime_ns)
    except OSError:
        changed = ()
    value, held = tool.module if is_shared else tool.value, _list_rights(policy, is_shared=is_shared)
    return value, tool.metadata, tool.version, *changed, held, [_identify_file(path) for path in paths]


def _list_rights(policy: Policy, *, is_shared: bool) -> list[object]:
    """All that a policy says; where tools share a process, without the name of the tool and the variables."""
    left_out = ("tool", "environment") if is_shared else ()
    return [getattr(policy, name) for name in policy.__slots__ if name not in left_out]


def _identify_file(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino
