"""One tool that is served: the calls that wait for it, and the process that has loaded it now."""

from __future__ import annotations

import time
from collections import deque
from functools import partial
from typing import TYPE_CHECKING

from ferrule.calls.fork_server.child.plugin_process import Stay
from ferrule.calls.fork_server.forks.confinement import Confinement
from ferrule.calls.fork_server.forks.plugin import Plugin
from ferrule.errors import WorkFailed
from ferrule.supervision.channel.outcome import Outcome
from ferrule.supervision.termination import deadline_passed

if TYPE_CHECKING:
    from ferrule.calls.fork_server.facts import LoadedToolFacts
    from ferrule.calls.fork_server.poll_loop import Timer
    from ferrule.calls.fork_server.surroundings import Request, Surroundings
    from ferrule.confinement.policy import Policy
    from ferrule.discovery import InstalledTool
    from ferrule.errors import FerruleError

_AT_ONCE = 4  # copies of a tool that are enough as long as its calls are short
_SHORT_SECONDS = 0.05  # that such a call takes; where calls take longer, each that waits gets a copy
_MAX_LOADS = 3  # with what calls import, without that, and once more
_WEIGHT = 0.2  # of the call that has just ended, in what calls are taken to last


class ServedTool:
    """One tool: the requests that wait, and the process that has loaded it now."""

    def __init__(self, surroundings: Surroundings, name: str, *, is_lasting: bool = False) -> None:
        """is_lasting: one copy makes all calls, and holds something from one to the next."""
        self.name = name
        self._is_lasting = is_lasting
        self.used = time.monotonic()
        self.identity: tuple[object, ...] = ()
        self._surroundings = surroundings
        self._plugin: Plugin | None = None
        self._retired: set[Plugin] = set()
        self._waiting: deque[Request] = deque()
        self._is_watched = False
        self._patience: Timer | None = None
        self._is_loaded_ahead = True
        self._lasts = 0.0
        self._loads = 0  # for requests that wait, none of which has been taken since

    @property
    def is_busy(self) -> bool:
        """Whether a request waits or runs."""
        return bool(self._waiting or self._retired or (self._plugin and self._plugin.running))

    @property
    def is_idle(self) -> bool:
        """Whether it neither runs nor prepares anything."""
        return not self.is_busy and (self._plugin is None or self._plugin.is_ready)

    def update(self, tool: InstalledTool, policy: Policy, identity: tuple[object, ...], memory_mib: int) -> None:
        """Take the tool as it is installed now, and what it may touch now, also for the requests that wait."""
        is_other = self.identity not in ((), identity)
        self._installed, self._policy, self.identity, self._memory_mib = tool, policy, identity, memory_mib
        if is_other:
            self.renew()

    def submit(self, request: Request) -> None:
        if self._plugin is not None and not self._plugin.is_alive():
            self.retire()
        if self._plugin is None:
            self._load()
        if self._plugin is None:
            request.finish(_no_room())
            return
        if not self._waiting:
            self._loads = 0
        request.timer = self._surroundings.loop.call_at(request.deadline, partial(self._handle_deadline, request))
        self._waiting.append(request)
        self._dispatch()

    def prepare(self) -> None:
        if self._plugin is None and self._is_loaded_ahead:
            self._load()

    def forget(self, request: Request, reason: FerruleError) -> None:
        """A request that waits is not wanted any more."""
        self._drop(request, reason)

    def renew(self) -> None:
        """Make no call from what is loaded now, which is no fault of its process."""
        self._loads = 0
        self.retire()

    def retire(self) -> None:
        """Take no more calls with the process that is loaded now."""
        plugin, self._plugin = self._plugin, None
        if plugin is not None:
            self._retired.add(plugin)
            plugin.retire()
        if self._waiting:
            self._load()

    def reap(self) -> None:
        for plugin in [*self._retired, *([self._plugin] if self._plugin else [])]:
            plugin.reap()

    def facts(self) -> LoadedToolFacts | None:
        plugin = self._plugin
        if plugin is None or plugin.process is None:
            return None
        return {
            "tool": self.name,
            "process": plugin.process,
            "calls": plugin.calls,
            "copies": [copy.process for copy in plugin.copies if copy.process and not copy.is_gone],
            "running": len(plugin.running),
        }

    def handle_loaded(self, plugin: Plugin, failure: Outcome | None) -> None:
        """A plugin is there, or cannot be loaded, which is the outcome of every request that waits."""
        if plugin is not self._plugin:
            return
        if failure is None and plugin.modules and not plugin.can_be_copied:
            self._surroundings.profile.unlearn(self.name)
            self.retire()
            if self._plugin is None:
                self._load()
        elif failure is None:
            self._is_loaded_ahead = not plugin.has_children
            if not (self._waiting or self._is_loaded_ahead):
                self.retire()  # what it has started would run until there is a call
                return
            self._dispatch()
            self._watch()
        elif plugin.modules:
            self._surroundings.profile.unlearn(self.name)
            self.retire()
            if self._plugin is None:
                self._load()
        else:
            self._plugin = None
            waiting, self._waiting = self._waiting, deque()
            for request in waiting:
                request.finish(failure)

    def handle_end(self, plugin: Plugin) -> None:
        """Its process has ended, with all that it had forked."""
        self._retired.discard(plugin)
        if plugin is self._plugin:
            self._plugin = None
            if self._waiting:
                self._load()

    def handle_call(self, plugin: Plugin, request: Request, outcome: Outcome, *, is_worn: bool) -> None:
        """A call has an outcome.

        Args:
            is_worn: it crashed, or its time was over.
        """
        self.used = time.monotonic()
        self._lasts += _WEIGHT * (self.used - request.begun - self._lasts)
        is_outdated = is_worn or (not self._is_lasting and self._is_outdated(plugin, request))
        request.finish(outcome)
        if plugin is self._plugin and is_outdated:
            self.retire()
        if self._plugin is None and not is_worn and self._is_loaded_ahead:
            self._load()  # the next call finds it loaded
        elif plugin is self._plugin:
            self._dispatch()
            if not self._waiting:  # else it has asked for those that are worth their memory
                plugin.keep_a_copy_ready()

    def handle_copy(self) -> None:
        """A copy waits for a call, or there will be none any more."""
        self._dispatch()

    def _is_outdated(self, plugin: Plugin, request: Request) -> bool:
        """Whether the plugin is better loaded anew: with what this call has imported, or since it has taken enough."""
        imports = request.messages.imports
        has_more = bool(imports) and self._surroundings.profile.learn(self.name, imports)
        return has_more or plugin.calls >= self._surroundings.options.calls

    def _load(self) -> None:
        """Have the plugin loaded, but not again and again where its process never comes so far as to take a call."""
        self._loads += bool(self._waiting)
        if self._loads > _MAX_LOADS:
            self._give_up()
            return
        modules = () if self._is_lasting else self._surroundings.profile.modules(self.name)
        stay = _find_stay(self._surroundings, self._installed, is_lasting=self._is_lasting)
        confinement = Confinement(self._surroundings, self._policy, self._memory_mib)
        self._plugin = Plugin(self._surroundings, self, self._installed, confinement, modules, stay)
        try:
            self._plugin.start()
        except OSError:  # no process or descriptor is left, and the calls of other tools have to go on
            self._give_up()

    def _give_up(self) -> None:
        self._plugin, self._loads = None, 0
        waiting, self._waiting = self._waiting, deque()
        for request in waiting:
            request.finish(_no_room())

    def _dispatch(self) -> None:
        if self._plugin is not None and self._plugin.is_retired:
            self.retire()  # as it has done by itself, such as one whose relay to a proxy has ended
        while self._waiting and self._plugin is not None and self._plugin.take(self._waiting[0]):
            self._loads, timer = 0, self._waiting.popleft().timer
            if timer is not None:
                timer.cancel()
            if not self._plugin.can_be_copied:
                self.retire()  # it has taken its one call
        plugin = self._plugin
        if not self._waiting or plugin is None:
            return
        missing = len(self._waiting) - len(plugin.checking)  # those are there in a moment
        at_once = len(self._waiting) if self._lasts > _SHORT_SECONDS else _AT_ONCE - len(plugin.running)
        plugin.ask_for_copies(min(missing, at_once))
        if plugin.is_retired:  # there is no room for a copy, and the calls that run can take long
            self.retire()
            return
        if self._patience is None and len(self._waiting) > at_once:
            self._patience = self._surroundings.loop.call_at(time.monotonic() + _SHORT_SECONDS, self._lose_patience)

    def _lose_patience(self) -> None:
        """Where no call has ended meanwhile, those that run are not short."""
        self._patience = None
        if self._waiting and time.monotonic() - self.used >= _SHORT_SECONDS and self._plugin is not None:
            self._plugin.ask_for_copies(len(self._waiting))
        self._dispatch()

    def _handle_deadline(self, request: Request) -> None:
        self._drop(request, deadline_passed())

    def _drop(self, request: Request, reason: FerruleError) -> None:
        if request not in self._waiting:
            return
        self._waiting.remove(request)
        is_last = not self._waiting and self._plugin is not None and not self._plugin.is_loaded
        outcome = self._plugin.outcome_of_loading(reason) if is_last and self._plugin else None
        if is_last:
            self.retire()  # a plugin that hangs while it is imported
        request.finish(outcome or _failed(reason))

    def _watch(self) -> None:
        if not self._is_watched:
            self._is_watched = True
            self._surroundings.loop.call_at(self.used + self._surroundings.options.idle_seconds, self._end_if_unused)

    def _end_if_unused(self) -> None:
        self._is_watched = False
        if self._plugin is None:
            return
        if not self.is_busy and time.monotonic() - self.used >= self._surroundings.options.idle_seconds:
            self.retire()
        else:
            limit = max(self.used, time.monotonic() - self._surroundings.options.idle_seconds / 2)
            self._is_watched = True
            self._surroundings.loop.call_at(limit + self._surroundings.options.idle_seconds, self._end_if_unused)


def _find_stay(surroundings: Surroundings, tool: InstalledTool, *, is_lasting: bool) -> Stay:
    if is_lasting:
        return Stay.LASTING
    return Stay.REUSABLE if surroundings.lookups.is_reusable(tool) else Stay.NONE


def _no_room() -> Outcome:
    failure = WorkFailed("The server has no process or descriptor left for this call. Call again in a moment.")
    return Outcome(None, failure.facts(), is_unbegun=True)


def _failed(reason: FerruleError) -> Outcome:
    """The outcome of a call that no process has begun."""
    return Outcome(None, reason.facts())
