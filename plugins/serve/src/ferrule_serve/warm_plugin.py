"""A worker's view of the process that has loaded one plugin, and of the one that waits for the next call."""

from __future__ import annotations

import os
import pickle
import select
import socket
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from ferrule.calls.server_interface import ANSWER_BYTES, CAPTURED, ChildWatch, Messages, processes
from ferrule.errors import CallInterrupted, FerruleError
from ferrule_serve.plugin_process import FORK, PID_BYTES, SELF, SIZE_BYTES, Plugin, main

if TYPE_CHECKING:
    from ferrule.calls.server_interface import Execution, InstalledTool, Outcome, Signals


class ReadyProcess(NamedTuple):
    """A process that waits for a call on its line. process: its id; it is a child of this process."""

    process: int
    line: socket.socket


class WarmPlugin:
    """One loaded plugin. load_failure: what came of loading it, None where it is loaded. calls: that were sent.

    modules: that are imported with it. memory_mib: that its process may take.
    """

    def __init__(
        self, tool: InstalledTool, modules: Sequence[str], signals: Signals, memory_mib: int, deadline: float
    ) -> None:
        self.tool = tool
        self.modules = modules
        self.memory_mib = memory_mib
        self.calls = 0
        self._identity = _identity(tool)
        self._signals = signals
        self._ready: ReadyProcess | None = None
        self._printed = b""
        self._others = processes.children()
        self._control, theirs = socket.socketpair()
        with theirs:
            self.load_failure = self._load(theirs, deadline)

    def is_of(self, tool: InstalledTool) -> bool:
        """Whether this is the plugin as it is installed now."""
        return self._identity == _identity(tool)

    def is_forked(self) -> bool:
        """Whether it is a fork that waits for the next call, and not the plugin's own process."""
        return self._ready is not None and self._ready.process != self.process

    def is_alive(self) -> bool:
        """Whether there is a process that takes a call, or could fork one."""
        if self._ready is not None and not _is_alive(self._ready.process):
            self._ready = None
        return _is_alive(self.process)

    def prepare(self, deadline: float) -> bool:
        """Have a process wait for the next call; False where the plugin's process does not come up with one."""
        if self._ready is None:
            self._ready = self._get_ready(deadline)
        return self._ready is not None

    def run(self, execution: Execution, memory_mib: int, deadline: float, messages: Messages) -> Outcome | None:
        """Run a call; None where it could not begin. Whatever it started is gone when this returns."""
        ready, self._ready = self._ready, None
        if ready is None:
            return None
        channel, text = os.pipe(), os.pipe()
        files = [channel[1], text[1]]
        try:
            is_sent = _send(ready.line, pickle.dumps((memory_mib, execution)), files, deadline)
        finally:
            _close(*files)
            ready.line.close()
        self.calls += 1
        watch = ChildWatch(ready.process, channel[0], text[0], self._signals, deadline, messages)
        try:
            reason = watch.wait() if is_sent else None
            processes.end_descendants(ready.process, {self.process} - {ready.process})
            watch.drain_text()
        finally:
            _close(channel[0], text[0])
        return self._outcome(watch, reason) if is_sent else None

    def end(self) -> None:
        """End the plugin's process, the one that waits, and all that they have started."""
        self._control.close()
        if self._ready is not None:
            self._ready.line.close()
            self._ready = None
        processes.end_descendants(self.process, self._others)

    def _outcome(self, watch: ChildWatch, reason: FerruleError | None) -> Outcome:
        """The outcome of a call, as if the plugin had been loaded for it. After a crash the plugin is worn out."""
        if reason is not None and not isinstance(reason, CallInterrupted):
            self.end()
        outcome = watch.outcome(reason)
        outcome.text = (self._printed + outcome.text)[:CAPTURED]
        return outcome

    def _load(self, theirs: socket.socket, deadline: float) -> Outcome | None:
        channel, text = os.pipe(), os.pipe()
        parent = os.getpid()
        self.process = os.fork()
        if self.process == 0:
            main(Plugin(self.tool, self.modules, theirs, parent), channel[1], text[1], self._signals, self.memory_mib)
        _close(channel[1], text[1])
        watch = ChildWatch(self.process, channel[0], text[0], self._signals, deadline, Messages(ANSWER_BYTES))
        try:
            reason = watch.wait()
            watch.drain_text()
        finally:
            _close(channel[0], text[0])
        outcome = watch.outcome(reason)
        self._printed = outcome.text
        if outcome.failure is None:
            return None
        self.end()
        return outcome

    def _get_ready(self, deadline: float) -> ReadyProcess | None:
        """Another process that waits; it may be the plugin's own, where a fork would not be as good."""
        left_by_loading = processes.children() - self._others - {self.process}
        line, theirs = socket.socketpair()
        with theirs:
            try:
                socket.send_fds(self._control, [SELF if left_by_loading else FORK], [theirs.fileno()])
            except OSError:
                line.close()
                return None
        process = self._receive_id(line, deadline)
        if process is None:
            line.close()
            return None
        return ReadyProcess(process, line)

    def _receive_id(self, line: socket.socket, deadline: float) -> int | None:
        """Wait until the process says that it is ready; None where none does."""
        poll = select.poll()
        poll.register(line, select.POLLIN)
        for file in self._signals.files:
            poll.register(file, select.POLLIN)
        while (left := deadline - time.monotonic()) > 0 and not self._signals.interrupted:
            ready = {file for file, _ in poll.poll(left * 1000 + 1)}
            if line.fileno() in ready:
                process = int.from_bytes(line.recv(PID_BYTES), "big")
                return process if process in processes.children() else None
            self._signals.settle()
            if not _is_alive(self.process):
                return None
        return None


def _send(line: socket.socket, job: bytes, files: list[int], deadline: float) -> bool:
    """Send a call to the process that waits for it; False where it has not got all of it, and so cannot have begun."""
    try:
        line.settimeout(max(0.01, deadline - time.monotonic()))
        socket.send_fds(line, [len(job).to_bytes(SIZE_BYTES, "big")], files)
        line.sendall(job)
    except OSError:
        return False
    return True


def _identity(tool: InstalledTool) -> tuple[object, ...]:
    """What changes when a distribution is installed anew, even in the same version."""
    try:
        status = os.stat(tool.metadata)
        changed: tuple[int, ...] = (status.st_ino, status.st_ctime_ns)
    except OSError:
        changed = ()
    return tool.value, tool.metadata, tool.version, *changed


def _is_alive(process: int) -> bool:
    """Whether a child has not ended."""
    try:
        return os.waitpid(process, os.WNOHANG)[0] == 0
    except ChildProcessError:
        return False


def _close(*files: int) -> None:
    for file in files:
        os.close(file)
