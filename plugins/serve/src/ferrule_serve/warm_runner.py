"""Where a worker runs its calls: in a process that was forked ahead from one that has loaded the plugin."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from ferrule import config
from ferrule.calls.server_interface import ANSWER_BYTES, Messages, processes, supervise
from ferrule.text import strict_json
from ferrule.text.redaction import redact_json
from ferrule_serve.import_profile import ImportProfile
from ferrule_serve.warm_plugin import WarmPlugin

if TYPE_CHECKING:
    from ferrule.calls.server_interface import Execution, InstalledTool, Outcome, Signals
    from ferrule_serve.wire import WorkerFacts

    EventSender = Callable[[bytes], None]

_MAX_EVENTS, _MAX_EVENT_BYTES = 1000, 1 << 20  # of one call that are handed on


class WarmRunner:
    """Runs calls of one tool at a time, and has the next one's process ready. It is the `Runner` of served calls.

    max_calls: after which a plugin is loaded anew. send_event: gets each event of a call as it happens, as JSON.
    """

    def __init__(self, signals: Signals, max_calls: int, send_event: EventSender) -> None:
        self._signals = signals
        self._max_calls = max_calls
        self._send_event = send_event
        self._plugin: WarmPlugin | None = None
        self._profile = ImportProfile()
        self._last: tuple[str, Messages] | None = None

    def run(self, execution: Execution, tool: InstalledTool, memory_mib: int, deadline: float) -> Outcome:
        """Run it in a process that was forked for it ahead, or where there is none, in a fresh one."""
        messages = Messages(ANSWER_BYTES, _EventForwarder(self._send_event))
        self._last = tool.name, messages
        plugin = self._load(tool, memory_mib, deadline)
        if plugin is not None and plugin.load_failure is not None:
            self._plugin = None
            return plugin.load_failure
        if plugin is not None and plugin.prepare(deadline):
            outcome = plugin.run(execution, memory_mib, deadline, messages)
            if outcome is not None:
                return outcome
        self._forget()
        return supervise(
            execution,
            deadline=deadline,
            memory=memory_mib,
            size_limit=ANSWER_BYTES,
            signals=self._signals,
            messages=messages,
        )

    def prepare_next(self) -> None:
        """Have a process wait for the next call, of a plugin that is loaded anew where its calls import something new.

        The same is done where it has taken all calls that it may, and where its process is gone.
        """
        last, self._last = self._last, None
        is_outdated = last is not None and self._profile.learn(last[0], last[1].imports)
        plugin = self._plugin
        if plugin is None:
            return
        deadline = time.monotonic() + config.deadline()
        if is_outdated or plugin.calls >= self._max_calls or not plugin.is_alive():
            plugin = self._reload(plugin, deadline)
        is_ready = _is_ready(plugin, deadline)
        was_stopped = self._signals.interrupted is not None  # by a late cancellation, which says nothing of the imports
        if plugin is not None and plugin.modules and not (was_stopped or (is_ready and plugin.is_forked())):
            self._profile.unlearn(plugin.tool.name)
            plugin = self._reload(plugin, deadline)
            is_ready = _is_ready(plugin, deadline)
        if not is_ready:
            self._forget()

    def prepare_tool(self, tool: InstalledTool, memory_mib: int) -> None:
        """Load a tool before its first call."""
        self._load(tool, memory_mib, time.monotonic() + config.deadline())
        self.prepare_next()

    def facts(self) -> WorkerFacts:
        """Which tool is loaded, by which process, and how many calls that has taken."""
        plugin = self._plugin
        if plugin is None:
            return {"tool": None, "process": None, "calls": 0}
        return {"tool": plugin.tool.name, "process": plugin.process, "calls": plugin.calls}

    def end(self) -> None:
        """End everything that was started here."""
        self._forget()
        for process in processes.children():
            processes.end_descendants(process)

    def _load(self, tool: InstalledTool, memory_mib: int, deadline: float) -> WarmPlugin | None:
        """The plugin, loaded now unless it has been before; None where there are no such processes to be had."""
        if sys.platform != "linux":
            return None
        if self._plugin is not None and not (self._plugin.is_of(tool) and self._plugin.is_alive()):
            self._forget()
        if self._plugin is None:
            self._plugin = WarmPlugin(tool, self._profile.modules(tool.name), self._signals, memory_mib, deadline)
        self._plugin.memory_mib = memory_mib
        return self._plugin

    def _reload(self, plugin: WarmPlugin, deadline: float) -> WarmPlugin | None:
        self._forget()
        return self._load(plugin.tool, plugin.memory_mib, deadline)

    def _forget(self) -> None:
        if self._plugin is not None:
            self._plugin.end()
            self._plugin = None


class _EventForwarder:
    """Hands the events of one call on without secrets, up to a number and a size."""

    def __init__(self, send: EventSender) -> None:
        self._send = send
        self._count = self._bytes = 0

    def __call__(self, event: Mapping[str, object], secrets: Sequence[str]) -> None:
        document = redact_event(event, secrets)
        self._count += 1
        self._bytes += len(document)
        if self._count <= _MAX_EVENTS and self._bytes <= _MAX_EVENT_BYTES:
            self._send(document)


def redact_event(event: Mapping[str, object], secrets: Sequence[str]) -> bytes:
    """The event as JSON, without secrets."""
    document = strict_json.dumps(event)
    return redact_json(document, secrets) if secrets else document


def _is_ready(plugin: WarmPlugin | None, deadline: float) -> bool:
    return plugin is not None and plugin.load_failure is None and plugin.prepare(deadline)
