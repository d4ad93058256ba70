"""Words of a page put into rows, by their heights."""

from __future__ import annotations

from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ferrule_fetch.formats.pdf.words import Word


_LEAST_SHARED = 0.5  # of the height of a word, that it has in common with its row
_PIECE_GAP = 0.8  # of the size of letters, that keeps pieces of a row apart


class Row(NamedTuple):
    """Words that stand next to each other, from left to right."""

    words: list[Word]

    @property
    def left(self) -> float:
        return self.words[0].left

    @property
    def right(self) -> float:
        return max(word.right for word in self.words)

    @property
    def bottom(self) -> float:
        return min(word.bottom for word in self.words)

    @property
    def top(self) -> float:
        return max(word.top for word in self.words)

    @property
    def size(self) -> float:
        """That of most of the letters."""
        return max(self.words, key=lambda word: len(word.text)).size

    @property
    def is_fixed(self) -> bool:
        """Whether all of its letters are of one width, as those of code."""
        return all(word.is_fixed for word in self.words)

    @property
    def text(self) -> str:
        return " ".join(word.text for word in self.words)

    def split(self) -> list[Row]:
        """The pieces of the row that wide gaps keep apart."""
        pieces = [[self.words[0]]]
        for word in self.words[1:]:
            before = pieces[-1][-1]
            if word.left - before.right > _PIECE_GAP * max(word.size, before.size):
                pieces.append([])
            pieces[-1].append(word)
        return [Row(piece) for piece in pieces]


def find_rows(words: list[Word]) -> list[Row]:
    """All words in rows, from the top down."""
    rows: list[list[Word]] = []
    for word in sorted(words, key=lambda word: (-word.middle, word.left)):
        if rows and _is_level(rows[-1], word):
            rows[-1].append(word)
        else:
            rows.append([word])
    return [Row(sorted(row, key=lambda word: word.left)) for row in rows]


def _is_level(row: list[Word], word: Word) -> bool:
    """Whether a word, lower than those of a row, still stands in that row."""
    largest = max(row[-8:], key=lambda other: other.top - other.bottom)
    shared = min(largest.top, word.top) - max(largest.bottom, word.bottom)
    return shared > _LEAST_SHARED * max(min(largest.top - largest.bottom, word.top - word.bottom), 0.01)


def find_pitch(rows: list[Row]) -> float:
    """The usual distance of a row from the next one; 0 for a single row."""
    steps = [above.bottom - below.bottom for above, below in pairwise(rows)]
    return median(step for step in steps) if steps else 0.0
