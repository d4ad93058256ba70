"""How far a statement is: for a function of the caller, or as a line on a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import NamedTuple, TextIO

_FIRST_SECONDS, _EVERY_SECONDS = 2.0, 1.0


class Progress(NamedTuple):
    """How far a statement is. All but `seconds` are numbers of distinct questions.

    answered: those that have an answer or have failed. failed, remembered: of these. under_way: being asked, or waiting
    for their turn. left: of this vector, not yet begun; what later vectors hold is not known. seconds: so far.
    """

    answered: int = 0
    failed: int = 0
    remembered: int = 0
    under_way: int = 0
    left: int = 0
    seconds: float = 0.0


Report = Callable[[Progress], None]


class Reporter:
    """Tells of progress, not too often.

    report: a function; None for a line on stderr, where that is a terminal, and where it is not to be silent.
    """

    def __init__(self, report: Report | None, *, is_silent: bool = False, stream: TextIO | None = None) -> None:
        self._report = report
        self._stream = sys.stderr if stream is None else stream
        is_terminal = self._stream is not None and self._stream.isatty()
        self._is_line = report is None and is_terminal and not is_silent
        self._next = 0.0
        self._length = 0

    def tell(self, progress: Progress, *, is_end: bool = False) -> None:
        """Tell, where it is time to; at the end of a vector in any case."""
        now = time.monotonic()
        if self._report is not None and (is_end or now >= self._next):
            self._report(progress)
        elif self._is_line and progress.seconds >= _FIRST_SECONDS and (is_end or now >= self._next):
            self._write(progress, is_end=is_end)
        else:
            return
        self._next = now + _EVERY_SECONDS

    def _write(self, progress: Progress, *, is_end: bool) -> None:
        text = f"{progress.answered:,} answered"
        for number, what in ((progress.failed, "failed"), (progress.remembered, "remembered")):
            text += f", {number:,} {what}" if number else ""
        text += f", {progress.under_way:,} under way, {progress.left:,} left of this vector; {progress.seconds:.0f} s"
        self._stream.write(f"\r{text.ljust(self._length)}" + "\n" * is_end)
        self._stream.flush()
        self._length = 0 if is_end else len(text)
