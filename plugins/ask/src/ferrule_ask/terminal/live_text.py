"""The text of an answer on a terminal, as it comes."""

from __future__ import annotations

import sys

from ferrule.cli import harmless, note


class LiveText:
    """Shows the pieces of one reply after the other on stdout.

    Where a reply broke off and is asked for again, what it repeats is not shown again. One that turns out otherwise is
    shown as a whole, after a note.
    """

    def __init__(self) -> None:
        self._shown = ""  # of the reply that is under way
        self._repeated: str | None = None  # what a further try has said, until it has said all that was shown
        self._is_amid_line = False

    def add(self, piece: str) -> None:
        """Take the next piece of a reply."""
        if self._repeated is None:
            self._show(piece)
            return
        self._repeated += piece
        if self._shown.startswith(self._repeated):
            return
        repeated, self._repeated = self._repeated, None
        self.complete(repeated)

    def begin_again(self) -> None:
        """The same reply is asked for once more."""
        self._repeated = "" if self._shown else None

    def begin_next(self) -> None:
        """Another reply comes."""
        self.end_line()
        self._shown, self._repeated = "", None

    def complete(self, text: str) -> None:
        """Show what is not shown of a text yet."""
        if not text.startswith(self._shown):
            self.begin_next()
            note("The answer begins anew, in other words:")
        self._show(text[len(self._shown) :])

    def end_line(self) -> None:
        """What is written next, here or on stderr, begins a line."""
        if self._is_amid_line:
            self._write("\n")

    def _show(self, text: str) -> None:
        self._shown += text
        self._write(text)

    def _write(self, text: str) -> None:
        if text:
            sys.stdout.write(harmless(text).decode())
            sys.stdout.flush()
            self._is_amid_line = not text.endswith("\n")
