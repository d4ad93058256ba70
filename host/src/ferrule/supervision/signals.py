"""Signals that wake a poll instead of ending the process, so that a call that is stopped still answers."""

from __future__ import annotations

import os

from ferrule.errors import CallInterrupted

TYPE_CHECKING = False

if TYPE_CHECKING:
    import signal
    from typing import Self
else:
    import _signal as signal  # signal makes its numbers members of an enum, which costs half an interpreter's start

INTERRUPTS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_HANDLED = (*INTERRUPTS, signal.SIGCHLD)


class Signals:
    """While it is entered, `file` becomes readable when a signal comes, and `interrupted` says what it means.

    cancel_file: a descriptor, such as a socket, that cancels the call when it becomes readable. files: all that a poll
    has to wait for.
    """

    def __init__(self, cancel_file: int | None = None) -> None:
        self._came: list[int] = []
        self._cancel_file = cancel_file
        self.file, self._write = os.pipe()  # neither end is inherited by a program that a tool starts
        self.files = [self.file] if cancel_file is None else [self.file, cancel_file]
        os.set_blocking(self.file, False)
        os.set_blocking(self._write, False)

    def __enter__(self) -> Self:
        self._wakeup = signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
        self._before = [(number, signal.getsignal(number)) for number in _HANDLED]
        for number, handler in self._before:
            # What the caller has told this process to ignore, as nohup does, it goes on ignoring.
            if handler != signal.SIG_IGN or number == signal.SIGCHLD:
                signal.signal(number, self._remember)
        return self

    def __exit__(self, *_: object) -> None:
        signal.set_wakeup_fd(self._wakeup)
        for number, handler in self._before:
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        self._close()

    @property
    def interrupted(self) -> CallInterrupted | None:
        """The error that a signal to stop means, or a cancelled call; None as long as neither has come."""
        if self._cancel_file is not None and _is_readable(self._cancel_file):
            return CallInterrupted("The call was cancelled before the tool had answered.")
        return interruption(self._came[0]) if self._came else None

    @property
    def has_come(self) -> bool:
        """Whether a signal to stop has come."""
        return bool(self._came)

    def settle(self) -> None:
        """Take the bytes off the pipe, so that the next poll waits for the next signal."""
        try:
            os.read(self.file, 4096)
        except BlockingIOError:
            pass

    def restore(self) -> None:
        """In a child: signals do again what they do in any program."""
        signal.set_wakeup_fd(-1)
        for number, handler in self._before:
            if handler != signal.SIG_IGN or number == signal.SIGCHLD:
                signal.signal(number, signal.SIG_DFL)
        self._close()

    def _close(self) -> None:
        os.close(self.file)
        os.close(self._write)

    def _remember(self, number: int, _frame: object) -> None:
        if number != signal.SIGCHLD:
            self._came.append(number)


def _is_readable(file: int) -> bool:
    import select

    poll = select.poll()
    poll.register(file, select.POLLIN)
    return bool(poll.poll(0))


def interruption(number: int) -> CallInterrupted:
    """The error for a call that was stopped by a signal of that number."""
    return CallInterrupted(f"The call was interrupted by {name_signal(number)} before the tool had answered.")


def name_signal(number: int) -> str:
    """`SIGSEGV` for 11; `signal 40` for one without a name."""
    from signal import Signals as Numbers

    try:
        return Numbers(number).name
    except ValueError:
        return f"signal {number}"
