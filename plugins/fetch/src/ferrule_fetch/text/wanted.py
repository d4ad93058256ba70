"""Which part of a document an answer can hold, so that no more of a long one has to be read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Wanted(NamedTuple):
    """offset: the first line, from 1. limit: how many lines; None for no limit. max_chars: that an answer holds."""

    offset: int = 1
    limit: int | None = None
    max_chars: float = float("inf")

    def is_in(self, parts: Iterable[str]) -> bool:
        """Whether parts, which blank lines keep apart, hold more than is wanted: there is a line after it."""
        lines, chars = 0, 0
        for part in parts:
            chars += len(part) if lines >= self.offset - 1 else 0
            lines += part.count("\n") + 2
        is_behind = self.limit is not None and lines > self.offset + self.limit
        return is_behind or chars > self.max_chars
