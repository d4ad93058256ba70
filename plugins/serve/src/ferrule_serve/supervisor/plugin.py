"""A process that has loaded a plugin, and the copies below it, as the supervisor has them."""

from __future__ import annotations

import os
import pickle
import socket
import time
from collections import deque
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Protocol

from ferrule import config
from ferrule.calls.server_interface import ANSWER_BYTES, CAPTURED, ConfinedCopies, Messages
from ferrule.errors import CallInterrupted
from ferrule_serve.supervisor import plugin_process
from ferrule_serve.supervisor.copies import Copy, StatusHandler, WatchedProcess, WatchedWork, is_child

if TYPE_CHECKING:
    from ferrule.calls.server_interface import InstalledTool, Outcome, Policy, SharedBroker
    from ferrule.errors import FerruleError
    from ferrule_serve.supervisor.surroundings import Request, Surroundings

_MAX_IDLE_COPIES = 16  # of a tool that are used again
_STATUS_SECONDS = 0.5  # in which the parent of a process says how that has ended


class PluginOwner(Protocol):
    """What is told of a plugin."""

    def handle_loaded(self, plugin: Plugin, failure: Outcome | None) -> None:
        """It is there, or cannot be loaded."""

    def handle_copy(self) -> None:
        """A copy waits for a call."""

    def handle_call(self, plugin: Plugin, request: Request, outcome: Outcome, *, is_worn: bool) -> None:
        """A call has an outcome. is_worn: it crashed, or its time was over."""

    def handle_end(self, plugin: Plugin) -> None:
        """Its process has ended, with all that it had forked."""


class Plugin(WatchedProcess):
    """A process that has loaded, or is loading, a plugin. can_be_copied: copies of it are as good as a fresh one."""

    def __init__(
        self,
        surroundings: Surroundings,
        owner: PluginOwner,
        tool: InstalledTool,
        policy: Policy,
        modules: Sequence[str],
        memory_mib: int,
        is_reusable: bool,
    ) -> None:
        super().__init__(surroundings.loop, self)
        self.modules = modules
        self.calls = 0
        self.idle: list[Copy] = []
        self.running: set[Copy] = set()
        self.checking: set[Copy] = set()
        self.is_loaded = self.is_retired = False
        self.can_be_copied = False
        self._surroundings = surroundings
        self._owner = owner
        self._tool = tool
        self._policy = policy
        self._broker: SharedBroker | None = None
        self._confined: ConfinedCopies | None = None
        self._memory_mib = memory_mib
        self._is_reusable = is_reusable
        self._starting: deque[Copy] = deque()
        self._printed = b""
        self._status: int | None = None
        self._asked: dict[int, StatusHandler] = {}
        self._answers = bytearray()

    @property
    def copies(self) -> list[Copy]:
        """Those that wait, run, or find out whether they are as they were."""
        return [*self.idle, *self.running, *self.checking]

    @property
    def is_ready(self) -> bool:
        """Whether nothing is on its way."""
        return self.is_loaded and not self._starting and bool(self.idle)

    def start(self) -> None:
        """Have the process forked, which loads the plugin. Raises OSError."""
        channel, text = os.pipe(), os.pipe()
        self._control, theirs = socket.socketpair()
        self._pipes = channel[0], text[0]
        try:
            process = self._surroundings.origin.fork(plugin_process.KIND, [theirs.fileno(), channel[1], text[1]])
        finally:
            for file in (channel[1], text[1], theirs.detach()):
                os.close(file)
        self._surroundings.known.add(process)
        confined = self._confined = ConfinedCopies(self._policy)
        self._surroundings.confined.add(confined)
        self._broker = confined.broker()
        if self._broker is not None:
            self._loop.watch(self._broker.file, self._broker.answer)
        self._send_plugin(confined)
        self.attach(process)
        deadline = time.monotonic() + config.deadline()
        signals, messages = self._surroundings.signals, Messages(ANSWER_BYTES)
        self.work = WatchedWork(
            self._loop, self, self._pipes, messages, deadline, self._handle_loaded, signals, self._broker
        )
        self.work.watch_memory(self._policy, self._memory_mib)
        if not self.is_gone:
            self._loop.watch(self._control.fileno(), self._read_answers)

    def _send_plugin(self, confined: ConfinedCopies) -> None:
        facts = plugin_process.Plugin(
            self._tool,
            self.modules,
            os.getpid(),
            self._is_reusable,
            self._surroundings.wrappers(),
            self._memory_mib,
            confined,
        )
        document = pickle.dumps(facts)
        try:
            self._control.sendall(len(document).to_bytes(plugin_process.NUMBER_BYTES, "big") + document)
        except OSError:
            pass  # it has been killed, which is found next
        self._control.setblocking(False)

    def take(self, request: Request) -> bool:
        """Let a copy that waits execute a call; False where none does."""
        while self.idle:
            copy = self.idle.pop()
            if not copy.is_alive():
                self._leave(copy)
                continue
            self._run(copy, request)
            return True
        return False

    def ask_for_copies(self, count: int) -> None:
        """Have so many copies on their way."""
        if self.is_loaded and self.can_be_copied and not self.is_retired:
            for _ in range(count - len(self._starting)):
                self._start_copy()

    def keep_a_copy_ready(self) -> None:
        """Have one wait for the next call."""
        if not self.idle and not self.checking:
            self.ask_for_copies(1)

    def retire(self) -> None:
        """Take no more calls, and end when those that run have ended."""
        self.is_retired = True
        idle, self.idle = self.idle, []
        for copy in idle:
            self._leave(copy)
        self._end_if_done()

    def reap(self) -> None:
        """Take the status of the process, where it has ended."""
        if self.process is not None and self._status is None and self.process in self._surroundings.known:
            try:
                process, status = os.waitpid(self.process, os.WNOHANG)
            except ChildProcessError:
                process, status = self.process, 0
            if process:
                self._status = status
                self._surroundings.known.discard(self.process)
                self.handle_exit()

    def outcome_of_loading(self, reason: FerruleError) -> Outcome | None:
        """How loading ended that is given up."""
        return self.work.outcome(reason) if self.work is not None else None

    def release(self) -> None:
        self._loop.unwatch(self._control.fileno())
        self._control.close()
        self._surroundings.loop.at(time.monotonic(), self.handle_gone)

    def handle_gone(self) -> None:
        """The process has ended. Its copies end with it, and tell so themselves."""
        self.reap()
        own = () if self.can_be_copied else (*self.idle, *self.running)  # the copies' own descriptors tell of theirs
        for copy in (*self._starting, *own):
            copy.handle_exit()
        idle, self.idle = self.idle, []
        for copy in idle:
            self._leave(copy)
        for tell in list(self._asked.values()):
            tell(None)
        self._asked.clear()
        if self.is_loaded or self.is_retired:
            self._owner.handle_end(self)
        self._close_pipes()
        self._end_confinement()

    def ask_status(self, process: int, tell: StatusHandler) -> None:
        """Of itself, or of a copy; one whose parent has died has become a child of this process."""
        if process == self.process:
            self.reap()
            tell(self._status)
            return
        try:
            ended, status = os.waitpid(process, os.WNOHANG)
            tell(status if ended else None)
            return
        except ChildProcessError:
            pass
        if self.is_gone or not self._order(plugin_process.REAP, process):
            tell(None)
            return
        self._asked[process] = tell
        self._loop.at(time.monotonic() + _STATUS_SECONDS, partial(self._tell_status, process, None))

    def end_strays(self) -> None:
        self._surroundings.end_strays()

    def _handle_loaded(self, reason: FerruleError | None) -> None:
        work, self.work = self.work, None
        if work is None:
            return
        outcome = work.outcome(reason)
        self._printed = outcome.text
        if outcome.failure is not None or outcome.result is None:
            self._surroundings.leave(self, partial(self._owner.handle_loaded, self, outcome))
            return
        self.is_loaded = True
        self.can_be_copied = outcome.result == plugin_process.CAN_BE_COPIED
        if self.is_retired:
            self._end_if_done()
            return
        self._owner.handle_loaded(self, None)
        if not (self.is_retired or self.idle or self.running or self.checking or self._starting):
            self._start_copy()

    def _start_copy(self) -> None:
        """A copy, or the process itself where a copy would not be as good. It can be given a call at once."""
        copy = None
        try:
            copy = Copy(self._surroundings, self)
            if self._broker is not None and self.can_be_copied:
                self._broker.expect_fork()
            order = plugin_process.FORK if self.can_be_copied else plugin_process.SELF
            copy.hand_over(partial(self._send_files, order))
        except OSError:  # such as that no descriptor is left: other calls have to go on
            if copy is not None:
                copy.close()
            self.retire()
            return
        self._starting.append(copy)
        if not self.can_be_copied and self.process is not None:
            self._handle_started(self.process)

    def _send_files(self, order: bytes, files: Sequence[int]) -> None:
        socket.send_fds(self._control, [order + bytes(plugin_process.NUMBER_BYTES)], list(files))

    def _handle_started(self, process: int) -> None:
        copy = self._starting.popleft()
        if process <= 0 or not (process == self.process or is_child(process, self.process)):
            copy.close()
            self.retire()  # it cannot fork any more
            return
        copy.attach(process)
        self._surroundings.known.add(process)
        if self._broker is not None and self._confined is not None:
            copy.broker = self._broker.add(process, self._confined.folder_of(process if self.can_be_copied else None))
        if self.is_retired:
            self._leave(copy)
            return
        self.idle.append(copy)
        self._owner.handle_copy()

    def _run(self, copy: Copy, request: Request) -> None:
        self.calls += 1
        self.running.add(copy)
        request.begun = time.monotonic()
        execution = request.job.execution
        given = self._surroundings.lookups.given(request.job)
        request.messages.secrets += given.secrets
        job = pickle.dumps((request.job.memory_mib, execution.for_held_process()))
        on_end = partial(self._handle_outcome, copy, request)
        request.work = copy.run(job, request.messages, request.deadline, given.answer, on_end)
        request.work.watch_memory(self._policy, request.job.memory_mib)
        if copy.is_gone:
            request.work.handle_exit()

    def _handle_outcome(self, copy: Copy, request: Request, work: WatchedWork, reason: FerruleError | None) -> None:
        copy.work = None
        # A process may say it of any tool; whether it is asked is for the tool's declaration and the admin to say.
        may_stay = self._is_reusable and reason is None and request.messages.is_checked
        has_calls = copy.calls < self._surroundings.limits.calls
        has_room = len(self.idle) + len(self.checking) < _MAX_IDLE_COPIES
        if may_stay and has_calls and has_room and not copy.is_gone and not self.is_retired:
            self.running.discard(copy)
            self.checking.add(copy)
            copy.await_check(partial(self._handle_checked, copy))
            self._tell(request, work, reason)
            return

        def handle_gone() -> None:
            self.running.discard(copy)
            self._tell(request, work, reason)
            self._forget(copy)
            self._end_if_done()

        self._surroundings.leave(copy, handle_gone)

    def _handle_checked(self, copy: Copy, is_as_before: bool) -> None:
        self.checking.discard(copy)
        if is_as_before and not copy.is_gone and not self.is_retired:
            self.idle.append(copy)
            self._owner.handle_copy()
            return

        def handle_gone() -> None:
            self._forget(copy)
            self._end_if_done()

        self._surroundings.leave(copy, handle_gone)
        self._owner.handle_copy()  # there may be a call that waited for this one

    def _tell(self, request: Request, work: WatchedWork, reason: FerruleError | None) -> None:
        outcome = work.outcome(reason)
        outcome.text = (self._printed + outcome.text)[:CAPTURED]
        is_worn = reason is not None and not isinstance(reason, CallInterrupted)
        self._owner.handle_call(self, request, outcome, is_worn=is_worn)

    def _leave(self, copy: Copy) -> None:
        self._surroundings.leave(copy, partial(self._forget, copy))

    def _forget(self, copy: Copy) -> None:
        copy.close()
        if copy.process is not None and copy.process != self.process:
            self._surroundings.known.discard(copy.process)
            if self._broker is not None:
                self._broker.remove(copy.process)
            if self._confined is not None:
                self._confined.remove(copy.process)
        self._end_confinement()

    def _end_confinement(self) -> None:
        """Let go of the broker and the folder once the process and all copies are gone."""
        if not self.is_gone or self.running or self.checking or self.idle or self._starting:
            return
        broker, self._broker = self._broker, None
        if broker is not None:
            self._loop.unwatch(broker.file)
            broker.close()
        confined, self._confined = self._confined, None
        if confined is not None:
            self._surroundings.confined.discard(confined)
            confined.remove()

    def _end_if_done(self) -> None:
        if self.is_retired and not (self.running or self.checking or self._starting or self.is_gone):
            self._surroundings.leave(self)

    def _order(self, order: bytes, process: int) -> bool:
        try:
            self._control.send(order + process.to_bytes(plugin_process.NUMBER_BYTES, "big"))
        except OSError:
            return False
        return True

    def _read_answers(self) -> None:
        try:
            data = self._control.recv(1 << 12)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._loop.unwatch(self._control.fileno())
            if self.can_be_copied and not self.is_gone:
                self._surroundings.leave(self)  # it waits for no order any more
            return
        self._answers += data
        while len(self._answers) >= plugin_process.ANSWER.size and not self.is_gone:
            kind, process, status = plugin_process.ANSWER.unpack_from(self._answers)
            del self._answers[: plugin_process.ANSWER.size]
            if kind == plugin_process.FORK and self._starting:
                self._handle_started(process)
            elif kind == plugin_process.REAP:
                self._tell_status(process, status if status >= 0 else None)

    def _tell_status(self, process: int, status: int | None) -> None:
        if tell := self._asked.pop(process, None):
            tell(status)

    def _close_pipes(self) -> None:
        pipes, self._pipes = self._pipes, (-1, -1)
        for file in pipes:
            if file >= 0:
                self._loop.unwatch(file)
                os.close(file)
