"""Notices that a query should end while DuckDB is inside of a function of ours, where it does not look itself.

DuckDB sees an interruption between two vectors, which are up to 2,048 questions, and shows it to no function: not in
the query's progress, not in another cursor. So two things are listened to at their source:

- SIGINT, by the file descriptor that Python writes signals to. The main thread itself may be inside of DuckDB, which
  (2.0) may not run Python's handlers before the query's end. Where other code uses that descriptor, or where
  SIGINT has another handler than Python's own, nothing is done.
- `con.interrupt()`, by a method around the class's own, which calls it.
"""

from __future__ import annotations

import os
import signal
import threading
import weakref
from typing import TYPE_CHECKING, Protocol

from ferrule.errors import FerruleError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


CLOSED = "The registration was closed."


class Interrupted(FerruleError):
    """The statement that asks has been interrupted, or is ended for another reason."""


class Listener(Protocol):
    """What is called at `con.interrupt()`."""

    def on_interrupt(self, connection: DuckDBPyConnection | None) -> None:
        """This connection's query should end."""


_listeners: weakref.WeakSet[Listener] = weakref.WeakSet()
_MARK = "ferrule_duckdb_original"


class _Signals:
    """How often SIGINT has come."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._reader = self._writer = -1
        self._seen = 0

    def watch(self) -> None:
        """Listen from now on; without effect outside of the main thread."""
        if threading.current_thread() is not threading.main_thread():
            return
        if self._writer < 0:
            self._reader, self._writer = os.pipe()
            os.set_blocking(self._reader, False)
            os.set_blocking(self._writer, False)
        before = signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)
        if before not in (-1, self._writer):
            signal.set_wakeup_fd(before)

    def seen(self) -> int:
        """How many there were so far that would end a program."""
        with self._lock:
            if self._reader >= 0:
                self._read()
            return self._seen

    def _read(self) -> None:
        while True:
            try:
                came = os.read(self._reader, 512)
            except BlockingIOError:
                return
            if signal.SIGINT in came and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
                self._seen += 1

    def forked(self) -> None:
        """A child has a pipe of its own: it must not read what is the parent's."""
        self._lock = threading.Lock()
        writer, self._reader, self._writer = self._writer, -1, -1
        if writer >= 0 and signal.set_wakeup_fd(-1) == writer:
            self.watch()


_signals = _Signals()
os.register_at_fork(after_in_child=_signals.forked)


def signals_so_far() -> int:
    """A number that grows when the user presses Ctrl-C."""
    return _signals.seen()


def interrupt(connection: DuckDBPyConnection) -> None:
    """Interrupt the connection's query, and nothing of ours: DuckDB raises InterruptException at the vector's end."""
    method = type(connection).interrupt
    getattr(method, _MARK, method)(connection)


def listen(listener: Listener, connection: DuckDBPyConnection) -> None:
    """Tell the listener of each `interrupt()` of a connection of this class, for as long as the listener lives."""
    _signals.watch()
    _listeners.add(listener)
    kind = type(connection)
    original = kind.interrupt
    if hasattr(original, _MARK):
        return

    def interrupt(self: DuckDBPyConnection) -> None:
        """Interrupt pending operations, questions of ferrule_duckdb included."""
        for one in list(_listeners):
            one.on_interrupt(self)
        original(self)

    setattr(interrupt, _MARK, original)
    kind.interrupt = interrupt  # type: ignore[method-assign] # that is the purpose
