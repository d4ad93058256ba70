"""The supervisor of `ferrule serve`: a process that supervises all calls of all tools.

It is started anew, not forked from the serving process, which has threads. It loads no plugin: that does a process of
its own for each tool, of which copies are forked for the calls. It ends with the serving process, and ends all that it
started.
"""

from __future__ import annotations

import gc
import os
import socket
import sys
from collections.abc import Mapping
from functools import partial

from ferrule.calls.server_interface import Signals, go_on_below_guard, import_for_calls, processes
from ferrule.errors import FerruleError
from ferrule_serve import wire
from ferrule_serve.supervisor import renderer
from ferrule_serve.supervisor.call import ServedCall
from ferrule_serve.supervisor.child import plugin_process
from ferrule_serve.supervisor.child.rehearsal import rehearse
from ferrule_serve.supervisor.lookups import Lookups
from ferrule_serve.supervisor.origin import Origin
from ferrule_serve.supervisor.plugins import Plugins
from ferrule_serve.supervisor.poll_loop import Outbox, PollLoop
from ferrule_serve.supervisor.surroundings import Limits, Surroundings

_CHUNK_BYTES = 1 << 18


def main() -> None:
    """Serve what comes over stdin, a socket, until it is closed.

    argv: the calls after which a plugin is renewed, the seconds after which an unused one is ended, and the descriptor
    of the file for the number of the call that was begun last.
    """
    go_on_below_guard()
    gc.disable()
    import_for_calls()
    link = socket.socket(fileno=os.dup(0))
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.close(nothing)
    processes.adopt_orphans()
    _rehearse()
    gc.freeze()
    gc.enable()
    origin = Origin({plugin_process.KIND: plugin_process.begin, renderer.KIND: renderer.begin})
    with link, Signals() as signals:
        limits = Limits(int(sys.argv[1]), float(sys.argv[2]))
        supervisor = _Supervisor(link, signals, limits, int(sys.argv[3]), origin)
        try:
            supervisor.run()
        finally:
            supervisor.end()


def _rehearse() -> None:
    rehearse({name: {} for name in _wrappers()})


def _wrappers() -> list[str]:
    """The names of the wrappers that are on, as a copy of this process has read them.

    The configuration holds settings that are not for every tool, and plugins' processes come from this one's memory.
    """
    source, answer = os.pipe()
    reader = os.fork()
    if reader == 0:
        try:
            os.write(answer, "\n".join(Lookups().configuration().wrappers()).encode())
        finally:
            os._exit(0)  # a configuration that cannot be read is told by each call
    os.close(answer)
    with open(source, "rb") as file:
        names = file.read().decode().splitlines()
    os.waitpid(reader, 0)
    return names


class _Supervisor:
    """The supervisor's end of the link, and the calls that run."""

    def __init__(self, link: socket.socket, signals: Signals, limits: Limits, begun: int, origin: Origin) -> None:
        self._link = link
        self._begun = begun
        self._signals = signals
        self._loop = PollLoop()
        self._lookups = Lookups()
        self._surroundings = Surroundings(self._loop, signals, limits, self._lookups, origin)
        self._plugins = Plugins(self._surroundings)
        self._frames = wire.FrameBuffer()
        self._outbox = Outbox(self._loop, link.fileno())
        self._calls: dict[int, ServedCall] = {}
        self.end = self._plugins.end

    def run(self) -> None:
        """Do what comes over the link until it ends, or a signal to stop comes."""
        # Without the process that forks no tool can be loaded; the serving process starts another supervisor. It is
        # looked at before the link, so that no call begins here any more.
        self._loop.watch(self._surroundings.origin.file, self._loop.stop)
        self._loop.watch(self._signals.file, self._handle_signal)
        self._loop.watch(self._link.fileno(), self._receive)
        self._loop.run()

    def _receive(self) -> None:
        if self._signals.has_come or self._loop.is_stopped:
            self._loop.stop()  # a call that has not begun goes to another supervisor
            return
        try:
            data = self._link.recv(_CHUNK_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._loop.stop()
            return
        for frame in self._frames.feed(data):
            self._take(frame)

    def _take(self, frame: wire.Frame) -> None:
        number = frame.number
        if frame.kind == wire.CALL:
            os.pwrite(self._begun, wire.NUMBER.pack(number), 0)
            facts, arguments = wire.facts_and_document(frame.body)
            forget = partial(self._forget, number)
            call = ServedCall(self._plugins, self._surroundings, partial(self._send, number), forget)
            self._calls[number] = call
            call.start(facts, arguments)
        elif frame.kind == wire.CANCEL and number in self._calls:
            self._calls[number].cancel()
        elif frame.kind == wire.PREPARE:
            self._prepare(frame.body.decode())
        elif frame.kind == wire.RENEW:
            self._lookups.forget()
            self._plugins.renew(frame.body.decode() or None, lambda: self._send(number, wire.RENEWED))
        elif frame.kind == wire.FACTS:
            is_idle = not self._calls and self._plugins.is_idle
            self._send(number, wire.FACTS, {"plugins": self._plugins.facts(), "is_idle": is_idle})

    def _forget(self, number: int) -> None:
        self._calls.pop(number, None)

    def _prepare(self, name: str) -> None:
        """Load a tool before its first call. The call says what is wrong with one that cannot be loaded."""
        try:
            settings = self._lookups.configuration()
            tool = self._lookups.tool(name, settings)
            self._plugins.prepare(tool, self._lookups.policy(tool, settings), settings.memory(tool.name))
        except (FerruleError, OSError):
            pass

    def _handle_signal(self) -> None:
        self._signals.settle()
        if self._signals.has_come:
            self._loop.stop()
        else:
            self._plugins.handle_children()

    def _send(self, number: int, kind: bytes, facts: Mapping[str, object] | None = None, document: bytes = b"") -> None:
        self._outbox.send(wire.frame(kind, number, facts, document))
