"""A process below the supervisor, as that one has it, and one piece of work in it that is watched.

A descriptor for the process tells of its end; how it has ended is known to its parent alone, which is asked where that
matters.
"""

from __future__ import annotations

import os
import select
import sys
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Protocol

from ferrule.calls.fork_server import rest
from ferrule.errors import ToolCrashed
from ferrule.supervision import processes
from ferrule.supervision.exception_text import defect, traceback_of
from ferrule.supervision.memory.watch import MemoryWatch
from ferrule.supervision.supervisor import ChildOutput
from ferrule.supervision.termination import deadline_passed

if TYPE_CHECKING:
    from ferrule.calls.fork_server.helper import Questions
    from ferrule.calls.fork_server.poll_loop import Handler, PollLoop, Timer
    from ferrule.confinement.policy import Policy
    from ferrule.errors import FerruleError
    from ferrule.supervision.channel.channel import Messages
    from ferrule.supervision.channel.outcome import Outcome
    from ferrule.supervision.memory.group import MemoryGroup
    from ferrule.supervision.signals import Signals
    from ferrule.supervision.supervisor import Judge

_EXIT_GRACE_SECONDS = 0.5  # in which a process ends that has closed its end of the channel
_END_SECONDS = 1.0  # a process that survives SIGKILL for longer hangs in the kernel, and cannot be waited for

StatusHandler = Callable[[int | None], None]


class Family(Protocol):
    """What knows of a process how it has ended, and what it has left behind. group: of the process that has loaded."""

    group: MemoryGroup | None

    def ask_status(self, process: int, tell: StatusHandler) -> None:
        """Tell the status with which a process has ended, see `os.waitpid`; None where that is not known."""

    def end_strays(self) -> None:
        """End what processes have left behind that are gone."""


class WatchedWork:
    """One load of a plugin, or one call: its messages, what it prints, its time, and the end of its process.

    Args:
        on_end: is called once, with why there is no outcome, or None; `outcome` makes one of it when all is gone.

    take_questions: makes what answers its questions, when the first one comes; None where none is answered.
    """

    def __init__(
        self,
        loop: PollLoop,
        process: WatchedProcess,
        pipes: tuple[int, int],
        messages: Messages,
        deadline: float,
        on_end: Callable[[FerruleError | None], None],
        signals: Signals,
        judge: Judge | None = None,
    ) -> None:
        self.messages = messages
        self.take_questions: Callable[[], Questions] | None = None
        self._questions: Questions | None = None
        self._loop = loop
        self._process = process
        self._channel, self._text = pipes
        self._on_end: Callable[[FerruleError | None], None] | None = on_end
        self._output = ChildOutput(process.process or 0, *pipes, signals, deadline, messages, judge)
        self._timers: list[Timer] = [loop.call_at(deadline, self._handle_deadline)]
        self._memory_timer: Timer | None = None
        self._is_silent = False
        loop.watch(self._channel, self._guard(self._read_channel))
        loop.watch(self._text, self._guard(self._read_text))

    def outcome(self, reason: FerruleError | None) -> Outcome:
        """The outcome, once everything that the work started is gone."""
        self._output.drain_text()
        return self._output.outcome(reason)

    def stop(self, reason: FerruleError | None) -> None:
        """End the work, unless it has ended."""
        on_end, self._on_end = self._on_end, None
        if on_end is None:
            return
        for timer in (*self._timers, *filter(None, [self._memory_timer])):
            timer.cancel()
        self._loop.unwatch(self._channel)
        self._loop.unwatch(self._text)
        self._end_questions()
        on_end(reason)

    def handle_exit(self) -> None:
        """Its process has ended: what it had sent before counts."""
        if self._on_end is None:
            return
        self._end_questions()
        if self._output.drain_rest():
            self.stop(None)
        else:
            self._process.ask_own_status(
                lambda status: self.stop(self._output.explain(0 if status is None else status))
            )

    def watch_memory(self, policy: Policy, memory_mib: int) -> None:
        """Where the tool may start programs, end the work when its processes use more than that together."""
        process, group = self._process.process, self._process.group
        if policy.programs and process is not None:
            if group is not None:
                with suppress(OSError):  # where it is gone, the watch goes on
                    group.limit(memory_mib)
            self._output.memory = MemoryWatch(process, memory_mib, policy.tool, group=group)
            self._wait_for_memory(self._output.memory)

    def _wait_for_memory(self, watch: MemoryWatch) -> None:
        if watch.due is not None:
            self._memory_timer = self._loop.call_at(watch.due, self._guard(partial(self._look_at_memory, watch)))

    def _look_at_memory(self, watch: MemoryWatch) -> None:
        if self._on_end is None:
            return
        failure = watch.check()
        if failure is None:
            self._wait_for_memory(watch)
        else:
            self.stop(failure)

    def _read_channel(self) -> None:
        is_open = self._output.drain_channel()
        if self.messages.ended:
            self.stop(None)
        elif self.messages.questions:
            self._answer_questions()
        elif not is_open and not self._is_silent:
            self._is_silent = True
            self._loop.unwatch(self._channel)
            limit = time.monotonic() + _EXIT_GRACE_SECONDS
            self._timers.append(self._loop.call_at(limit, lambda: self.stop(self._output.explain(None))))

    def _answer_questions(self) -> None:
        if self.take_questions is None:
            self.stop(ToolCrashed("The tool's process asked for what it was not offered."))
            return
        self._loop.unwatch(self._channel)
        if self._questions is None:
            self._questions = self.take_questions()
        self._questions.begin()

    def resume(self) -> None:
        """All questions are answered: read on."""
        if self._on_end is not None:
            self._loop.watch(self._channel, self._guard(self._read_channel))

    def _guard(self, read: Handler) -> Handler:
        """The same, but a defect of the host that what a tool sent brings to light ends this work alone."""

        def read_guarded() -> None:
            try:
                read()
            except Exception as error:  # noqa: BLE001 - without this, all calls of the server would end
                failure = defect(error)
                failure.traceback = traceback_of(error)
                self.stop(failure)

        return read_guarded

    def _end_questions(self) -> None:
        questions, self._questions = self._questions, None
        self.take_questions = None
        if questions is not None:
            questions.end()

    def _read_text(self) -> None:
        if not self._output.drain_text():
            self._loop.unwatch(self._text)

    def _handle_deadline(self) -> None:
        self.stop(deadline_passed())


class WatchedProcess:
    """A process below the supervisor. process: its id, None until that is known. group: holds its memory."""

    def __init__(self, loop: PollLoop, family: Family | None = None) -> None:
        """family: None where it is the process itself."""
        self.process: int | None = None
        self.is_gone = False
        self.work: WatchedWork | None = None
        self.group: MemoryGroup | None = None
        self._loop = loop
        # A process that held itself would stay in memory until a search for garbage.
        self._family: Family = weakref.proxy(self) if family is None else family
        self._file: int | None = None
        self._end = select.poll()
        self._when_gone: list[Callable[[], None]] = []
        self._is_ending = False
        self._limit: Timer | None = None

    def attach(self, process: int) -> None:
        """The process is known from now on."""
        self.process = process
        if sys.platform == "linux":
            try:
                self._file = os.pidfd_open(process)
            except OSError:
                self.handle_exit()
                return
            self._end.register(self._file, select.POLLIN)
            self._loop.watch(self._file, self.is_alive)
        if self._is_ending:
            self._kill()

    def is_alive(self) -> bool:
        """Whether it has not ended by now, which is handled where that has not been told.

        The kernel is asked each time: what a poll has said may be of a descriptor that had this one's number before.
        """
        if not self.is_gone and self._file is not None and self._end.poll(0):
            self.handle_exit()
        return not self.is_gone

    def pause(self) -> None:
        """Let nothing run in it, whatever is in there, until `resume`."""
        rest.pause(self._file)

    def resume(self) -> None:
        rest.resume(self._file)

    def end(self, when_gone: Callable[[], None]) -> None:
        """Kill it with its group; then, when it and what it has left behind are gone, do something."""
        if self.is_gone:
            self._family.end_strays()
            when_gone()
            return
        self._when_gone.append(when_gone)
        if not self._is_ending:
            self._is_ending = True
            self._limit = self._loop.call_at(time.monotonic() + _END_SECONDS, self.handle_exit)
            self._kill()

    def ask_own_status(self, tell: StatusHandler) -> None:
        """Tell how it has ended."""
        if self.process is None:
            tell(None)
        else:
            self._family.ask_status(self.process, tell)

    def handle_exit(self) -> None:
        """It has ended, or cannot be ended."""
        if self.is_gone:
            return
        self.is_gone = True
        file, self._file = self._file, None
        if file is not None:
            self._loop.unwatch(file)
            os.close(file)
        if self._limit is not None:
            self._limit.cancel()
        self.release()
        if self.work is not None:
            self.work.handle_exit()
        waiting, self._when_gone = self._when_gone, []
        if waiting:
            self._family.end_strays()
        for action in waiting:
            action()

    def release(self) -> None:
        """Let go of what the process was reached by."""

    def _kill(self) -> None:
        # Of a process that has ended, another one may have the number by now; what it left behind is among the strays.
        if self.process is not None and self.is_alive():
            processes.kill_group(self.process)
