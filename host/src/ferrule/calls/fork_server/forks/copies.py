"""A process that executes calls, as the supervisor has it.

It is forked by the process that has loaded the plugin, so it is no child of the supervisor.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING

from ferrule.calls.fork_server import rest
from ferrule.calls.fork_server.child.plugin_process import AS_BEFORE
from ferrule.calls.fork_server.forks.pipes import close_watched, open_pipes
from ferrule.calls.fork_server.helper import Questions
from ferrule.calls.fork_server.poll_loop import Timer, WriteQueue
from ferrule.calls.fork_server.watched_process import Family, WatchedProcess, WatchedWork

if TYPE_CHECKING:
    from ferrule.calls.fork_server.surroundings import Surroundings
    from ferrule.confinement.broker.shared_broker import CopyBroker
    from ferrule.errors import FerruleError
    from ferrule.plugin.surroundings import Surroundings as GivenSurroundings
    from ferrule.supervision.channel.channel import Messages
    from ferrule.supervision.memory.group import MemoryGroup

_CHECK_SECONDS = 5.0  # in which a process says that it is as it was before a call
_CHECK_BYTES = 16
_BEGIN_SECONDS = 0.5  # in which a copy that waits for its first call has made itself ready


class Copy(WatchedProcess):
    """A process that waits for a call on its line. calls: that it has taken. broker: judges its system calls."""

    def __init__(self, surroundings: Surroundings, family: Family, group: MemoryGroup | None = None) -> None:
        """group: one that the process enters, and that is removed with it."""
        super().__init__(surroundings.loop, family)
        self.calls = 0
        self.broker: CopyBroker | None = None
        self._surroundings = surroundings
        with ExitStack() as undo:
            if group is not None:
                undo.callback(group.remove)
            self._line, theirs = socket.socketpair()
            undo.callback(self._line.close)
            undo.callback(theirs.close)
            pipes = open_pipes(3)
            undo.pop_all()
        channel, text, answers = pipes
        self._pipes = channel[0], text[0]
        self._answers = answers[1]
        self._theirs: tuple[int, ...] = (theirs.detach(), channel[1], text[1], answers[0])
        self._files = rest.name_files(self._theirs)
        if group is not None:
            self.group = group
            self._theirs += (group.take_file(),)
        self._begin_limit: Timer | None = None
        self._writes = WriteQueue(self._loop, self._line.fileno())
        self._is_released = False
        self._tell_checked: Callable[[bool], None] | None = None
        self._check_limit: Timer | None = None

    def hand_over(self, send: Callable[[Sequence[int]], None]) -> None:
        """Give the other ends away, and close them here. Raises OSError of `send`."""
        files, self._theirs = self._theirs, ()
        try:
            send(files)
        finally:
            for file in files:
                os.close(file)

    def begin(self) -> None:
        """It makes itself ready for its first call, and then runs no more before that."""
        self._begin_limit = self._loop.call_at(time.monotonic() + _BEGIN_SECONDS, self._end_begin)

    def rest(self) -> None:
        """Go on waiting, without running, unless it makes itself ready."""
        if self._begin_limit is None:
            self.pause()

    def _cancel_begin(self) -> None:
        limit, self._begin_limit = self._begin_limit, None
        if limit is not None:
            limit.cancel()

    def _end_begin(self) -> None:
        self._begin_limit = None
        self.pause()
        if self.process is not None and rest.has_other_children(self.process):
            self._surroundings.leave(self)  # they would run until there is a call

    def is_alone(self) -> bool:
        """Whether the kernel knows of nothing in it that its last call has left behind."""
        return self.process is not None and rest.is_alone(self.process, self._files)

    def run(
        self,
        job: bytes,
        messages: Messages,
        deadline: float,
        given: GivenSurroundings,
        on_end: Callable[[WatchedWork, FerruleError | None], None],
    ) -> WatchedWork:
        """Have it execute a call.

        Args:
            given: answers what the call asks while it runs.
            on_end: is called once, when there is an outcome, or why there is none.
        """
        self.calls += 1
        self._cancel_begin()
        self.resume()
        if self.broker is not None:
            self.broker.begin()
        work = WatchedWork(
            self._loop,
            self,
            self._pipes,
            messages,
            deadline,
            lambda reason: on_end(work, reason),
            self._surroundings.signals,
            self.broker,
        )
        work.take_questions = lambda: Questions(
            self._surroundings, given, self._answers, messages, work.resume, work.stop
        )
        self.work = work
        self._writes.send(len(job).to_bytes(8, "big") + job)
        return work

    def await_check(self, tell: Callable[[bool], None]) -> None:
        """Tell, once, whether the process is as it was before the call whose result it has sent."""
        self._tell_checked = tell
        self._loop.watch(self._line.fileno(), self._read_check)
        self._check_limit = self._loop.call_at(time.monotonic() + _CHECK_SECONDS, partial(self._end_check, False))

    def _read_check(self) -> None:
        try:
            data = self._line.recv(_CHECK_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        # What came after the result, as of a thread that has ended since, would be the next call's.
        self._end_check(data == AS_BEFORE and not rest.is_any_readable(self._pipes))

    def _end_check(self, is_as_before: bool) -> None:
        tell, self._tell_checked = self._tell_checked, None
        if tell is None:
            return
        if self._check_limit is not None:
            self._check_limit.cancel()
        if not self._is_released:
            self._loop.unwatch(self._line.fileno())
        tell(is_as_before)

    def release(self) -> None:
        if not self._is_released:
            self._is_released = True
            self._cancel_begin()
            self._loop.unwatch(self._line.fileno())
            self._writes.close()
            self._line.close()
            self._end_check(False)

    def close(self) -> None:
        """Close its pipes, once nothing is read from them any more."""
        self.release()
        close_watched(self._loop, self._pipes)
        os.close(self._answers)
        self._pipes = (-1, -1)
        if self.group is not None and self.group is not self._family.group:
            self.group.remove()
