"""One part of a document, such as a page, which must not cost the others."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_AGAIN_SECONDS = 0.02  # of the processor's time, until the timer fires again: Python drops what a finalizer raises


class PartTooExpensive(Exception):
    """A part took too much time or memory; the next one may be tried."""


class _Stopped(BaseException):
    """Raised by the timer. No library catches it on the way, as it might an Exception."""


@contextmanager
def bounded_part(seconds: float) -> Iterator[None]:
    """Let a part of the work take `seconds` of the processor's time. Raises PartTooExpensive, also out of memory.

    It is for work in the main thread of a process that has limits of its own: a part that is at work in C all the time
    is not stopped by this one.
    """
    try:
        before = signal.signal(signal.SIGVTALRM, _stop)
        try:
            with _quiet_stop():
                signal.setitimer(signal.ITIMER_VIRTUAL, seconds, _AGAIN_SECONDS)
                yield
        finally:
            signal.signal(signal.SIGVTALRM, before)
    except (_Stopped, MemoryError):
        raise PartTooExpensive from None


@contextmanager
def _quiet_stop() -> Iterator[None]:
    """Say nothing where the exception of the timer comes to nothing, as in a finalizer. It comes again."""
    before = sys.unraisablehook

    def report(unraisable: sys.UnraisableHookArgs) -> None:
        if unraisable.exc_type is not _Stopped:
            before(unraisable)

    sys.unraisablehook = report
    try:
        yield
    finally:
        try:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        finally:
            sys.unraisablehook = before


def _stop(*_: object) -> None:
    raise _Stopped
