"""Waiting for descriptors and instants, in one thread: what is done for each is a function that does not block."""

from __future__ import annotations

import heapq
import os
import select
import time
from collections.abc import Callable
from itertools import count
from typing import Self

Handler = Callable[[], object]

_CHUNK_BYTES = 1 << 16
_FEW_TIMERS = 64


class Timer:
    """Something to be done at an instant of `time.monotonic()`, unless it is cancelled before."""

    __slots__ = ("_order", "action", "when")
    _numbers = count()

    def __init__(self, when: float, action: Handler) -> None:
        self.when = when
        self.action: Handler | None = action
        self._order = next(self._numbers)

    def cancel(self) -> None:
        """Do nothing at that instant."""
        self.action = None

    def __lt__(self, other: Self) -> bool:
        return (self.when, self._order) < (other.when, other._order)


class PollLoop:
    """Calls the function of each descriptor that is ready, until it is stopped: of the one watched first, first."""

    def __init__(self) -> None:
        self._poll = select.poll()
        self._readers: dict[int, Handler] = {}
        self._writers: dict[int, Handler] = {}
        self._urgent: set[int] = set()
        self._timers: list[Timer] = []
        self._many = _FEW_TIMERS
        self.is_stopped = False

    def watch(self, file: int, action: Handler) -> None:
        """Call a function whenever there may be something to read, or nothing will be any more."""
        self._readers[file] = action
        self._register(file)

    def watch_urgent(self, file: int, action: Handler) -> None:
        """Call a function whenever the kernel reports a change of a file that can be read at any time."""
        self._urgent.add(file)
        self.watch(file, action)

    def unwatch(self, file: int) -> None:
        """Wait for this descriptor no longer. It is still open."""
        self._urgent.discard(file)
        self._readers.pop(file, None)
        self._writers.pop(file, None)
        self._register(file)

    def watch_room(self, file: int, action: Handler | None) -> None:
        """Call a function whenever something can be written; None ends that."""
        if action is None:
            self._writers.pop(file, None)
        else:
            self._writers[file] = action
        self._register(file)

    def call_at(self, when: float, action: Handler) -> Timer:
        """Do something at an instant of `time.monotonic()`."""
        timer = Timer(when, action)
        if len(self._timers) >= self._many:
            self._drop_cancelled()
        heapq.heappush(self._timers, timer)
        return timer

    def stop(self) -> None:
        """Let `run` return."""
        self.is_stopped = True

    def run(self) -> None:
        """Wait, and do what is to be done."""
        while not self.is_stopped:
            for file, events in self._poll.poll(self._milliseconds()):
                self._handle(file, events)
            self._run_timers()

    def _handle(self, file: int, events: int) -> None:
        if events & select.POLLOUT and (writer := self._writers.get(file)):
            writer()
        if events & ~select.POLLOUT:
            if reader := self._readers.get(file):
                reader()
            elif writer := self._writers.get(file):
                writer()  # which finds the error

    def _milliseconds(self) -> float | None:
        while self._timers and self._timers[0].action is None:
            heapq.heappop(self._timers)
        return max(0.0, self._timers[0].when - time.monotonic()) * 1000 + 1 if self._timers else None

    def _run_timers(self) -> None:
        while self._timers and self._timers[0].when <= time.monotonic():
            action = heapq.heappop(self._timers).action
            if action is not None:
                action()

    def _drop_cancelled(self) -> None:
        """Forget timers that were cancelled. Most are: the limit of a call, which may be a day away."""
        self._timers = [timer for timer in self._timers if timer.action is not None]
        heapq.heapify(self._timers)
        self._many = max(_FEW_TIMERS, 2 * len(self._timers))

    def _register(self, file: int) -> None:
        reading = select.POLLPRI if file in self._urgent else select.POLLIN
        events = (reading if file in self._readers else 0) | (select.POLLOUT if file in self._writers else 0)
        if events:
            self._poll.register(file, events)
        else:
            try:
                self._poll.unregister(file)
            except KeyError:
                pass


class WriteQueue:
    """Writes to a descriptor without ever waiting for its reader. What cannot be written at all is dropped."""

    def __init__(self, loop: PollLoop, file: int) -> None:
        self._loop = loop
        self._file = file
        self._waiting = bytearray()
        os.set_blocking(file, False)

    def send(self, data: bytes) -> None:
        """Write all of it, now or as soon as there is room."""
        if self._waiting:
            self._waiting += data
            return
        written = self._write(data)
        if written < len(data):
            self._waiting += data[written:]
            self._loop.watch_room(self._file, self._flush)

    def finish(self) -> None:
        """Write what waits still, for as long as its reader takes."""
        os.set_blocking(self._file, True)
        while self._waiting:
            self._flush()

    def close(self) -> None:
        """Write nothing any more."""
        self._waiting.clear()
        self._loop.watch_room(self._file, None)

    def _flush(self) -> None:
        del self._waiting[: self._write(bytes(self._waiting[:_CHUNK_BYTES]))]
        if not self._waiting:
            self._loop.watch_room(self._file, None)

    def _write(self, data: bytes) -> int:
        try:
            return os.write(self._file, data)
        except BlockingIOError:
            return 0
        except OSError:
            self._waiting.clear()  # whoever reads it is gone, which something else will find
            return len(data)
