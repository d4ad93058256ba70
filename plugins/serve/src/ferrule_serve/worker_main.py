"""A worker of `ferrule serve`: a process that supervises the calls of one tool at a time, one after the other.

It is started anew, not forked from the serving process, which has threads. It loads no plugin: that does a process of
its own, from which another is forked ahead of each call. It ends with the serving process, and ends all it started.
"""

from __future__ import annotations

import os
import select
import socket
import sys
import time
from typing import TYPE_CHECKING, Any

from ferrule import discovery
from ferrule.calls.call import ToolCall, parse
from ferrule.calls.output import Answer, printed
from ferrule.calls.streams import INPUT_BYTES
from ferrule.config import configuration
from ferrule.errors import CallInterrupted, FerruleError, InputMalformed
from ferrule.supervision import processes
from ferrule.supervision.channel import Messages
from ferrule.supervision.signals import Signals
from ferrule.supervision.supervisor import Outcome, supervise
from ferrule.text import strict_json
from ferrule.text.redaction import redact_json
from ferrule.tool.context import ANSWER_BYTES
from ferrule_serve import wire
from ferrule_serve.plugin_process import IMPORTED
from ferrule_serve.preload import LearnedImports
from ferrule_serve.warm_plugin import WarmPlugin

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ferrule.calls.execution import Execution
    from ferrule.discovery import InstalledTool

    _Send = Callable[[dict[str, Any]], None]

_EVENTS, _EVENT_BYTES = 1000, 1 << 20  # of one call that are handed on


def main() -> None:
    """Serve what comes over stdin, a socket, until it is closed. argv: the calls after which a plugin is renewed."""
    link = socket.socket(fileno=os.dup(0))
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.close(nothing)
    processes.adopt_orphans()
    with link, _Stops(link) as stops:
        worker = _Worker(link, stops, int(sys.argv[1]))
        try:
            worker.serve()
        finally:
            worker.end()


class _Stops(Signals):
    """What can stop a call: a signal, or a word of the serving process, which says nothing else meanwhile."""

    def __init__(self, link: socket.socket) -> None:
        super().__init__()
        self._link = select.poll()
        self._link.register(link, select.POLLIN)
        self.files.append(link.fileno())

    @property
    def interrupted(self) -> CallInterrupted | None:
        """The error that a signal to stop means, or a call that is cancelled."""
        if self._link.poll(0):
            return CallInterrupted("The call was cancelled before the tool had answered.")
        return super().interrupted

    @property
    def has_to_end(self) -> bool:
        """Whether a signal has come that ends the worker."""
        return super().interrupted is not None

    def wait(self) -> bool:
        """Wait for a word; False where a signal came first that ends the worker."""
        poll = select.poll()
        for file in self.files:
            poll.register(file, select.POLLIN)
        while not self.has_to_end:
            poll.poll()
            self.settle()
            if self._link.poll(0):
                return True
        return False


class _Worker:
    """What a worker holds: its end of the link, and the plugin that is loaded."""

    def __init__(self, link: socket.socket, stops: _Stops, calls: int) -> None:
        self._link = link
        self._stops = stops
        self._calls = calls
        self._plugin: WarmPlugin | None = None
        self._imports = LearnedImports()

    def serve(self) -> None:
        """Do what comes over the link until it ends."""
        self._send(wire.IDLE, self._facts())
        while self._stops.wait():
            head = self._received(wire.HEAD_BYTES)
            if head is None:
                return
            kind, size = wire.head(head)
            body = self._received(size)
            if body is None:
                return
            if kind == wire.CALL:
                self._call(*wire.facts_and_document(body))
            elif kind == wire.PREPARE:
                self._prepare_tool(wire.facts_and_document(body)[0]["tool"])

    def end(self) -> None:
        """End everything that was started here."""
        if self._plugin is not None:
            self._plugin.end()
        for process in processes.children():
            processes.end_descendants(process)

    def executed(
        self, execution: Execution, tool: InstalledTool, memory: int, deadline: float, messages: Messages
    ) -> Outcome:
        """What comes of a call, in a process that was forked for it ahead, or where there is none, in a fresh one."""
        plugin = self._loaded(tool, memory, deadline)
        if plugin is not None and plugin.load_failure is not None:
            self._plugin = None
            return plugin.load_failure
        if plugin is not None and plugin.prepare(deadline):
            outcome = plugin.executed(execution, memory, deadline, messages)
            if outcome is not None:
                return outcome
        self._forget_plugin()
        return supervise(
            execution,
            deadline=deadline,
            memory=memory,
            size_limit=ANSWER_BYTES,
            signals=self._stops,
            messages=messages,
        )

    def send_event(self, event: dict[str, Any]) -> None:
        """Hand an event on, which has no secrets any more."""
        self._send(wire.EVENT, None, strict_json.dumps(event))

    def _call(self, facts: dict[str, Any], arguments: bytes) -> None:
        self._send(wire.BEGUN)
        started = time.monotonic()
        seconds = facts["seconds"] or configuration.deadline()
        call = _ServedCall(facts["tool"], arguments, self, self._stops, started + seconds)
        outcome = call.outcome()
        call.report(outcome)
        document = Answer.of(outcome, call.tool, call.name, {}).document
        told = {
            "is_error": outcome.failure is not None,
            "seconds": time.monotonic() - started,
            "text": printed(outcome).decode(errors="replace"),
        }
        self._send(wire.ANSWER, told, document)
        self._pass_over_cancellation()
        self._prepare(call.memory, is_outdated=self._imports.learn(call.name, call.imported))
        self._send(wire.IDLE, self._facts())

    def _pass_over_cancellation(self) -> None:
        """Take a word that stopped the call off the link, so that it stops nothing else."""
        while self._stops.interrupted and not self._stops.has_to_end and self._link.recv(1, socket.MSG_PEEK):
            self._received(wire.HEAD_BYTES)

    def _prepare_tool(self, name: str) -> None:
        """Load a tool before its first call. One that cannot be is told so by the call."""
        try:
            settings = configuration.read()
            tool = discovery.find(name, settings)
            memory = settings.memory(name)
            self._loaded(tool, memory, time.monotonic() + configuration.deadline())
            self._prepare(memory)
        except FerruleError:
            pass
        self._send(wire.IDLE, self._facts())

    def _loaded(self, tool: InstalledTool, memory: int, deadline: float) -> WarmPlugin | None:
        """The plugin, loaded now unless it has been before; None where there are no such processes to be had."""
        if sys.platform != "linux":
            return None
        if self._plugin is not None and not (self._plugin.is_of(tool) and self._plugin.is_alive()):
            self._forget_plugin()
        if self._plugin is None:
            self._plugin = WarmPlugin(tool, self._imports.of(tool.name), self._stops, memory, deadline)
        return self._plugin

    def _prepare(self, memory: int, *, is_outdated: bool = False) -> None:
        """Have a process wait for the next call, of a plugin that is loaded anew where it is worn out."""
        plugin = self._plugin
        if plugin is None:
            return
        limit = time.monotonic() + configuration.deadline()
        if is_outdated or plugin.calls >= self._calls or not plugin.is_alive():
            plugin = self._renewed(plugin.tool, memory, limit)
        is_ready = _is_ready(plugin, limit)
        was_stopped = self._stops.interrupted is not None  # by a word that came late, and says nothing of the imports
        if plugin is not None and plugin.ahead and not (was_stopped or (is_ready and plugin.is_copied())):
            self._imports.unlearn(plugin.tool.name)
            plugin = self._renewed(plugin.tool, memory, limit)
            is_ready = _is_ready(plugin, limit)
        if not is_ready:
            self._forget_plugin()

    def _renewed(self, tool: InstalledTool, memory: int, deadline: float) -> WarmPlugin | None:
        self._forget_plugin()
        return self._loaded(tool, memory, deadline)

    def _forget_plugin(self) -> None:
        if self._plugin is not None:
            self._plugin.end()
            self._plugin = None

    def _facts(self) -> dict[str, Any]:
        plugin = self._plugin
        if plugin is None:
            return {"tool": None, "process": None, "calls": 0}
        return {"tool": plugin.tool.name, "process": plugin.process, "calls": plugin.calls}

    def _send(self, kind: bytes, facts: dict[str, Any] | None = None, document: bytes = b"") -> None:
        try:
            self._link.sendall(wire.frame(kind, facts, document))
        except OSError:
            pass  # the serving process is gone, which the next wait will find, too

    def _received(self, size: int) -> bytes | None:
        data = bytearray()
        while len(data) < size:
            try:
                piece = self._link.recv(size - len(data))
            except OSError:
                piece = b""
            if not piece:
                return None
            data += piece
        return bytes(data)


def _is_ready(plugin: WarmPlugin | None, deadline: float) -> bool:
    return plugin is not None and plugin.load_failure is None and plugin.prepare(deadline)


class _ServedCall(ToolCall):
    """A call whose arguments came over the link."""

    def __init__(self, name: str, arguments: bytes, worker: _Worker, stops: _Stops, deadline: float) -> None:
        super().__init__(name, {}, stops, deadline)
        self.memory = 0
        self._arguments = arguments
        self._worker = worker
        self._messages = _LiveMessages(worker.send_event)

    @property
    def imported(self) -> list[str]:
        """The modules that the call has imported."""
        return self._messages.imported

    def received(self) -> bytes:
        """The arguments as they came."""
        return self._arguments

    def arguments(self, data: bytes, tool: InstalledTool) -> dict[str, Any]:
        """What was received, as arguments of this tool."""
        if len(data) > INPUT_BYTES:
            raise InputMalformed(f"The call's arguments hold more than {INPUT_BYTES:,} bytes.")
        return parse(data, "The call's arguments")

    def supervised(self, execution: Execution, tool: InstalledTool, memory: int) -> Outcome:
        """What comes of the execution in a process that has loaded the tool ahead."""
        self.memory = memory
        self._messages = _LiveMessages(self._worker.send_event)
        return self._worker.executed(execution, tool, memory, self.deadline, self._messages)

    def report(self, outcome: Outcome) -> None:
        """Hand on the events that are only known now."""
        for event in outcome.events:
            self._worker.send_event(_without_secrets(event, outcome.secrets))


class _LiveMessages(Messages):
    """Messages whose events are handed on as they come, up to a number and a size.

    imported: the modules that the call says it has imported.
    """

    __slots__ = ("_bytes", "_count", "_send", "imported")

    def __init__(self, send: _Send) -> None:
        super().__init__(ANSWER_BYTES)
        self._send = send
        self._bytes = self._count = 0
        self.imported: list[str] = []

    def _take(self, kind: bytes, document: bytes) -> None:
        super()._take(kind, document)
        if kind == IMPORTED:
            self.imported = _names(document)
        while self.events:
            self._hand_on(self.events.pop())

    def _hand_on(self, event: dict[str, object]) -> None:
        event = _without_secrets(event, self.secrets)
        self._count += 1
        self._bytes += len(strict_json.dumps(event))
        if self._count <= _EVENTS and self._bytes <= _EVENT_BYTES:
            self._send(event)


def _names(document: bytes) -> list[str]:
    """A list of texts; an empty one for anything else, which a plugin may have written."""
    try:
        names = strict_json.loads(document)
    except strict_json.MalformedJSON:
        return []
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def _without_secrets(event: dict[str, object], secrets: Sequence[str]) -> dict[str, Any]:
    if not secrets:
        return event
    cleared: dict[str, Any] = strict_json.loads(redact_json(strict_json.dumps(event), secrets))  # type: ignore[assignment]
    return cleared


if __name__ == "__main__":
    main()
