"""A text by its lines, and the document that they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, overload

_BLOCK_CHARS = 1 << 16


class Lines(Sequence[str]):
    """The lines of a text, without their ends. Each is looked up when it is asked for.

    A list of them takes up to thirty times the text's own room. Quick for lines that are asked for in their order.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._count = text.count("\n") + 1
        self._last = (0, 0)  # a line, and where it begins

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            first, stop, _ = index.indices(self._count)
            return self._text[self._start(first) : self._start(stop) - 1].split("\n") if first < stop else []
        start = self._start(range(self._count)[index])
        end = self._text.find("\n", start)
        return self._text[start:] if end < 0 else self._text[start:end]

    def _start(self, line: int) -> int:
        """Where a line begins; for the one after the last, where it would if there were one."""
        if line == self._count:
            return len(self._text) + 1
        known, at = self._last if self._last[0] <= line else (0, 0)
        while line - known > 64 and known + (passed := self._text.count("\n", at, at + _BLOCK_CHARS)) < line:
            known, at = known + passed, at + _BLOCK_CHARS
        for _ in range(line - known):
            at = self._text.index("\n", at) + 1
        self._last = line, at
        return at


class Document(NamedTuple):
    """What there is to read.

    title: one line, empty if there is none. lines: without their line ends. main_lines: how many of them are the
    main content, where an answer ends with it; 0 where it does not. is_whole: False where more lines follow, of which
    nobody knows yet how many.
    """

    title: str
    lines: Sequence[str]
    main_lines: int = 0
    is_whole: bool = True
