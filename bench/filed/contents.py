"""What is in the documents: headings, paragraphs, items and tables, made up of words by a seed."""

from __future__ import annotations

import random
from typing import NamedTuple

_TEXT = (
    "river station water quality measure report value north south bank level trend sample autumn spring flow depth "
    "bridge valley harbour signal window garden market paper letter engine forest island summer winter number record"
)
_WORDS = _TEXT.split()


class Block(NamedTuple):
    """kind: "heading", "text", "item" or "table". text: of all but a table. rows: of a table."""

    kind: str
    text: str = ""
    rows: tuple[tuple[str, ...], ...] = ()


class Contents:
    """Makes blocks. Each has a word that no other has, by which its place is found again."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._count = seed * 1000

    def heading(self) -> Block:
        """Three words."""
        return Block("heading", f"{self._mark()} {self._words(2)}".capitalize())

    def text(self, words: int = 60) -> Block:
        """A paragraph."""
        return Block("text", f"{self._mark()} {self._words(words)}.".capitalize())

    def item(self) -> Block:
        """An item of a list."""
        return Block("item", f"{self._mark()} {self._words(6)}".capitalize())

    def table(self, rows: int = 5, columns: int = 4) -> Block:
        """A table with a head; its cells are one or two words, and numbers."""
        head = tuple(f"{self._mark()}" for _ in range(columns))
        body = (self._row(columns) for _ in range(rows - 1))
        return Block("table", "", (head, *body))

    def report(self, tables: int = 1, parts: int = 3) -> list[Block]:
        """Parts with a heading, two paragraphs and items, and tables in the first of them."""
        blocks: list[Block] = []
        for part in range(parts):
            blocks += [self.heading(), self.text(), self.text(40), self.item(), self.item(), self.item()]
            blocks += [self.table(), self.text(30)] if part < tables else []
        return blocks

    def _row(self, columns: int) -> tuple[str, ...]:
        numbers = (f"{self._random.uniform(1, 99):.1f}" for _ in range(columns - 1))
        return (f"{self._mark()} {self._words(1)}", *numbers)

    def _words(self, count: int) -> str:
        return " ".join(self._random.choice(_WORDS) for _ in range(count))

    def _mark(self) -> str:
        self._count += 1
        return f"mark{self._count}"
