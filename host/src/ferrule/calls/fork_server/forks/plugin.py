"""A process that has loaded a plugin, and the copies below it, as the supervisor has them."""

from __future__ import annotations

import os
import pickle
import time
from collections import deque
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING

from ferrule import config
from ferrule.calls.fork_server import rest
from ferrule.calls.fork_server.child import plugin_process
from ferrule.calls.fork_server.child.plugin_process import Stay
from ferrule.calls.fork_server.forks.copies import Copy
from ferrule.calls.fork_server.forks.orders import Orders
from ferrule.calls.fork_server.forks.pipes import close_watched, open_pipes
from ferrule.calls.fork_server.watched_process import StatusHandler, WatchedProcess, WatchedWork
from ferrule.errors import CallInterrupted
from ferrule.plugin.hooks.context import ANSWER_BYTES
from ferrule.supervision.channel.channel import Messages
from ferrule.supervision.supervisor import CAPTURED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferrule.calls.fork_server.forks.confinement import Confinement
    from ferrule.calls.fork_server.forks.plugin_owner import PluginOwner
    from ferrule.calls.fork_server.surroundings import Request, Surroundings
    from ferrule.discovery import InstalledTool
    from ferrule.errors import FerruleError
    from ferrule.supervision.channel.outcome import Outcome
    from ferrule.supervision.confined_work import ConfinedCopies

_MAX_IDLE_COPIES = 16  # of a tool that are used again


class Plugin(WatchedProcess):
    """A process that has loaded, or is loading, a plugin.

    can_be_copied: copies of it are as good as a fresh one. has_children: loading it has started processes, which do not
    rest with it.
    """

    def __init__(
        self,
        surroundings: Surroundings,
        owner: PluginOwner[Plugin],
        tool: InstalledTool,
        confinement: Confinement,
        modules: Sequence[str],
        stay: Stay,
    ) -> None:
        super().__init__(surroundings.loop)
        self.modules = modules
        self.calls = 0
        self.idle: list[Copy] = []
        self.running: set[Copy] = set()
        self.checking: set[Copy] = set()
        self.is_loaded = self.is_retired = self.can_be_copied = self.has_children = False
        self._surroundings = surroundings
        self._owner = owner
        self._tool = tool
        self._confinement = confinement
        self._stay = stay
        self._starting: deque[Copy] = deque()
        self._printed = b""
        self._status: int | None = None

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
        with ExitStack() as undo:
            undo.callback(self._confinement.end)
            self._confinement.begin_relay(self.retire)
            confined = self._confinement.begin()
            process = self._fork(undo)
            undo.pop_all()
        self._surroundings.known.add(process)
        self._send_plugin(confined)
        self.attach(process)
        deadline, on_end = time.monotonic() + config.deadline(), self._handle_loaded
        how = self._surroundings.signals, self._confinement.broker
        self.work = WatchedWork(self._loop, self, self._pipes, Messages(ANSWER_BYTES), deadline, on_end, *how)
        self.work.watch_memory(self._confinement.policy, self._confinement.memory_mib)
        if not self.is_gone:
            self._orders.watch()

    def _fork(self, undo: ExitStack) -> int:
        channel, text = open_pipes(2)
        self._pipes, theirs = (channel[0], text[0]), [channel[1], text[1]]
        undo.callback(self._close_pipes)
        try:
            handlers = self._handle_started, self._handle_tried, self._handle_silence, self._handle_rest
            self._orders = Orders(self._loop, self, *handlers)
            undo.callback(self._orders.close)
            theirs.insert(0, self._orders.hand_over())
            self._files, self.group = rest.name_files(theirs), self._confinement.make_group()
            if self.group is not None:
                undo.callback(self.group.remove)
                theirs.append(self.group.take_file())
            return self._surroundings.zygote.fork(plugin_process.KIND, theirs)
        finally:
            for file in theirs:
                os.close(file)

    def _send_plugin(self, confined: ConfinedCopies) -> None:
        how = os.getpid(), self._stay, self._surroundings.wrappers(), self._confinement.memory_mib
        facts = plugin_process.Plugin(self._tool, self.modules, *how, confined)
        self._orders.begin(pickle.dumps(facts))

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
            most = 1 - len(self.copies) if self._stay is Stay.LASTING else count
            while len(self._starting) < min(count, most) and not self.is_retired:
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
        self._orders.close()
        self._surroundings.loop.call_at(time.monotonic(), self.handle_gone)

    def handle_gone(self) -> None:
        """The process has ended. Its copies end with it, and tell so themselves."""
        self.reap()
        own = () if self.can_be_copied else (*self.idle, *self.running)  # the copies' own descriptors tell of theirs
        for copy in (*self._starting, *own):
            copy.handle_exit()
        gone, self._starting, self.idle = (*self._starting, *self.idle), deque(), []
        for copy in gone:
            self._leave(copy)
        self._orders.tell_end()
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
        if self.is_gone:
            tell(None)
        else:
            self._orders.ask_status(process, tell)

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
        self.pause()
        if outcome.result == plugin_process.HAS_THREADS and not self.is_retired:
            self._try_fork()
            return
        self._finish_loading(can_be_copied=outcome.result == plugin_process.CAN_BE_COPIED)

    def _try_fork(self) -> None:
        """See whether the threads are of libraries that end them before a fork: then copies have what they need."""
        try:
            self._confinement.expect_copy()
            self._orders.try_fork()
        except OSError:
            self._handle_tried(can_be_copied=False)

    def _handle_tried(self, can_be_copied: bool) -> None:
        self._confinement.expect_no_copy()
        if not self._confinement.may_start_processes and rest.has_other_children(self.process or 0):
            self.is_loaded = False
            refusal = self._confinement.refuse_process()
            self._surroundings.leave(self, partial(self._owner.handle_loaded, self, refusal))
            return
        self._finish_loading(can_be_copied=can_be_copied)

    def _finish_loading(self, *, can_be_copied: bool) -> None:
        """can_be_copied: as the process says."""
        self.can_be_copied = can_be_copied and self._is_as_good_as_fresh()
        self.has_children = rest.has_other_children(self.process or 0)
        if self.is_retired:
            self._end_if_done()
            return
        self._owner.handle_loaded(self, None)
        if not (self.is_retired or self.idle or self.running or self.checking or self._starting):
            self._start_copy()

    def _is_as_good_as_fresh(self) -> bool:
        """Whether a copy would be. What the process says beside the plugin can only be no."""
        process = self.process
        return process is not None and rest.is_alone(process, self._files) and not rest.shares_memory(process)

    def _start_copy(self) -> None:
        """A copy, or the process itself where a copy would not be as good. It can be given a call at once."""
        copy = None
        try:
            copy = Copy(self._surroundings, self, self._confinement.make_group() if self.can_be_copied else None)
            if self.can_be_copied:
                self._confinement.expect_copy()
            copy.hand_over(self._orders.fork if self.can_be_copied else self._orders.take_call)
        except OSError:  # such as that no descriptor is left: other calls have to go on
            if copy is not None:
                copy.close()
            self.retire()
            return
        self._starting.append(copy)
        if not self.can_be_copied and self.process is not None:
            self._handle_started(self.process)

    def _handle_started(self, process: int) -> None:
        copy = self._starting.popleft()
        if not self._is_new(process):
            copy.close()
            self.retire()  # it cannot fork any more
            self._owner.handle_copy()  # calls that wait must not wait for the end of those that run
            return
        copy.attach(process)
        self._surroundings.known.add(process)
        copy.broker = self._confinement.add(process, is_copy=self.can_be_copied)
        if self.is_retired:
            self._surroundings.leave(copy, partial(self._handle_gone, copy))
            return
        self.idle.append(copy)
        if not self.can_be_copied:
            copy.group = self.group
            copy.resume()
        copy.begin()
        self._owner.handle_copy()

    def _is_new(self, process: int) -> bool:
        """Whether it is what takes the next call: what says so runs beside a plugin's code."""
        if not self.can_be_copied:
            return process == self.process
        return process > 0 and process not in self._surroundings.known and rest.is_child(process, self.process)

    def _handle_silence(self) -> None:
        """It takes no order any more, or does not answer one."""
        if (self.can_be_copied or self._orders.is_trying) and not self.is_gone:
            self._surroundings.leave(self)

    def _handle_rest(self) -> None:
        """It is paused, and so are its copies that wait, which it could have let run meanwhile."""
        for copy in self.idle:
            copy.rest()
        if not self._confinement.may_start_processes or self.process is None:
            return
        if rest.has_other_children(self.process, self._surroundings.known):
            self._surroundings.leave(self)  # nobody ends what it starts beside the copies

    def _run(self, copy: Copy, request: Request) -> None:
        self.calls += 1
        self.running.add(copy)
        request.begun = time.monotonic()
        if request.on_begin is not None:
            request.on_begin(request.job.tool)
        given = request.given
        request.messages.secrets += given.secrets
        job = pickle.dumps((request.job.memory_mib, request.job.execution.for_held_process()))
        on_end = partial(self._handle_outcome, copy, request)
        request.work = copy.run(job, request.messages, request.deadline, given, on_end)
        request.work.watch_memory(self._confinement.policy, request.job.memory_mib)
        if copy.is_gone:
            request.work.handle_exit()

    def _handle_outcome(self, copy: Copy, request: Request, work: WatchedWork, reason: FerruleError | None) -> None:
        copy.work = None
        # A process may say it of any tool; whether it is asked is for the tool's declaration and the admin to say.
        may_stay = reason is None and request.messages.is_checked and copy.process is not None
        if may_stay and self._may_take_another(copy) and not copy.is_gone and not self.is_retired:
            self.running.discard(copy)
            self.checking.add(copy)
            copy.await_check(partial(self._handle_checked, copy))
            self._tell(request, work, reason)
            return

        def handle_gone() -> None:
            self.running.discard(copy)
            self._tell(request, work, reason)
            self._handle_gone(copy)

        self._surroundings.leave(copy, handle_gone)

    def _may_take_another(self, copy: Copy) -> bool:
        """Whether a copy that has made a call may find out whether it takes the next one."""
        if self._stay is not Stay.REUSABLE:
            return self._stay is Stay.LASTING
        is_one_of_few = len(self.idle) + len(self.checking) < _MAX_IDLE_COPIES
        return is_one_of_few and copy.calls < self._surroundings.options.calls and rest.runs_alone(copy.process or 0)

    def _handle_checked(self, copy: Copy, is_as_before: bool) -> None:
        self.checking.discard(copy)
        is_good = is_as_before and (self._stay is Stay.LASTING or copy.is_alone())
        if is_good and not copy.is_gone and not self.is_retired:
            self.idle.append(copy)
            copy.pause()
            self._owner.handle_copy()
            return
        self._surroundings.leave(copy, partial(self._handle_gone, copy))
        self._owner.handle_copy()  # there may be a call that waited for this one

    def _handle_gone(self, copy: Copy) -> None:
        self._forget(copy)
        self._end_if_done()

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
            self._confinement.remove(copy.process)
        self._end_confinement()

    def _end_confinement(self) -> None:
        """Let go of what they were held by, once the process and all copies are gone."""
        if not self.is_gone or self.running or self.checking or self.idle or self._starting:
            return
        if self.group is not None:
            self.group.remove()
        self._confinement.end()

    def _end_if_done(self) -> None:
        if self.is_retired and not (self.running or self.checking or self._starting or self.is_gone):
            self._surroundings.leave(self)

    def _close_pipes(self) -> None:
        pipes, self._pipes = self._pipes, (-1, -1)
        close_watched(self._loop, pipes)
