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
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ferrule import config
from ferrule.calls.server_interface import (
    INPUT_BYTES,
    Signals,
    ToolCall,
    discovery,
    import_for_calls,
    parse,
    processes,
    render,
    render_printed,
)
from ferrule.errors import FerruleError, InputMalformed
from ferrule_serve import wire
from ferrule_serve.warm_runner import WarmRunner, redact_event

if TYPE_CHECKING:
    from ferrule.calls.server_interface import InstalledTool
    from ferrule.text.json_types import JSONObject


def main() -> None:
    """Serve what comes over stdin, a socket, until it is closed. argv: the calls after which a plugin is renewed."""
    import_for_calls()
    link = socket.socket(fileno=os.dup(0))
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.close(nothing)
    processes.adopt_orphans()
    # While a call runs the serving process sends nothing but what cancels it.
    with link, Signals(cancel_file=link.fileno()) as signals:
        worker = _Worker(link, signals, int(sys.argv[1]))
        try:
            worker.serve()
        finally:
            worker.end()


class _Worker:
    """A worker's end of the link, and the runner of its calls."""

    def __init__(self, link: socket.socket, signals: Signals, max_calls: int) -> None:
        self._link = link
        self._signals = signals
        self._runner = WarmRunner(signals, max_calls, lambda event: self._send(wire.EVENT, None, event))
        self.end = self._runner.end

    def serve(self) -> None:
        """Do what comes over the link until it ends, or a signal to stop comes."""
        self._send(wire.IDLE, self._runner.facts())
        while self._wait_for_frame():
            head = self._receive(wire.HEAD_BYTES)
            if head is None:
                return
            kind, size = wire.head(head)
            body = self._receive(size)
            if body is None:
                return
            if kind == wire.CALL:
                self._make_call(*wire.facts_and_document(body))
            elif kind == wire.PREPARE:
                self._prepare(body.decode())

    def _make_call(self, facts: wire.CallFacts, arguments: bytes) -> None:
        self._send(wire.BEGUN)
        started = time.monotonic()
        deadline = started + (facts["seconds"] or config.deadline())
        call = ToolCall(facts["tool"], _FrameSource(arguments), self._runner, deadline)
        outcome = call.run()
        for event in outcome.events:  # those that are only known now
            self._send(wire.EVENT, None, redact_event(event, outcome.secrets))
        output = render(outcome, call.tool, call.name, call.names)
        answer: wire.AnswerFacts = {
            "is_error": outcome.failure is not None,
            "seconds": time.monotonic() - started,
            "text": render_printed(outcome).decode(errors="replace"),
        }
        self._send(wire.ANSWER, answer, output.document)
        self._discard_cancellation()
        self._runner.prepare_next()
        self._send(wire.IDLE, self._runner.facts())

    def _prepare(self, name: str) -> None:
        """Load a tool before its first call. The call says what is wrong with one that cannot be loaded."""
        try:
            settings = config.read()
            tool = discovery.find(name, settings)
            self._runner.prepare_tool(tool, settings.memory(tool.name))
        except FerruleError:
            pass
        self._send(wire.IDLE, self._runner.facts())

    def _discard_cancellation(self) -> None:
        """Take a frame that stopped the call off the link, so that it stops nothing else."""
        while self._signals.interrupted and not self._signals.has_come and self._link.recv(1, socket.MSG_PEEK):
            self._receive(wire.HEAD_BYTES)

    def _wait_for_frame(self) -> bool:
        """Wait for a frame; False where a signal to stop comes first."""
        poll = select.poll()
        for file in self._signals.files:
            poll.register(file, select.POLLIN)
        while not self._signals.has_come:
            ready = {file for file, _ in poll.poll()}
            self._signals.settle()
            if self._link.fileno() in ready:
                return True
        return False

    def _send(self, kind: bytes, facts: Mapping[str, object] | None = None, document: bytes = b"") -> None:
        try:
            self._link.sendall(wire.frame(kind, facts, document))
        except OSError:
            pass  # the serving process is gone, which the next wait will find, too

    def _receive(self, size: int) -> bytes | None:
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


class _FrameSource:
    """The arguments came with the call's frame."""

    def __init__(self, arguments: bytes) -> None:
        self._arguments = arguments

    def read_input(self) -> bytes:
        """Return the arguments as they came."""
        return self._arguments

    def parse_arguments(self, data: bytes, _tool: InstalledTool) -> JSONObject:
        """Return the JSON object that came. Raises InputMalformed."""
        if len(data) > INPUT_BYTES:
            raise InputMalformed(f"The call's arguments hold more than {INPUT_BYTES:,} bytes.")
        return parse(data, "The call's arguments")
