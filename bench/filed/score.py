"""How much of a document is in a text: words, their order, headings, and the rows of tables."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from typing import NamedTuple

Block = tuple[str, str, list[list[str]]]


class Score(NamedTuple):
    """Shares of 1. None where a document has none of a thing."""

    words: float
    order: float
    headings: float | None
    rows: float | None


def score(blocks: list[Block], text: str) -> Score:
    """Judge a text by the blocks that the document was made of."""
    plain = re.sub(r"\\(.)", r"\1", text)
    found = Counter(re.findall(r"[\w.]+", plain.lower()))
    wanted = Counter(re.findall(r"[\w.]+", " ".join(map(_words_of, blocks)).lower()))
    kept = sum((wanted & found).values()) / max(sum(wanted.values()), 1)
    return Score(kept, _order(blocks, plain), _headings(blocks, plain), _rows(blocks, plain))


def _words_of(block: Block) -> str:
    return block[1] or " ".join(cell for row in block[2] for cell in row)


def _order(blocks: list[Block], text: str) -> float:
    """The share of marks that are in their order: the longest run of them that rises, of all."""
    marks = re.findall(r"mark\d+", " ".join(map(_words_of, blocks)).lower())
    place = {mark: number for number, mark in enumerate(marks)}
    tails: list[int] = []
    for mark in dict.fromkeys(re.findall(r"mark\d+", text.lower())):
        if mark in place:
            at = bisect_left(tails, place[mark])
            tails[at : at + 1] = [place[mark]]
    return len(tails) / max(len(marks), 1)


def _headings(blocks: list[Block], text: str) -> float | None:
    wanted = [block[1].lower() for block in blocks if block[0] == "heading"]
    lines = [line.strip("#* ").lower() for line in text.split("\n") if line.startswith("#")]
    return sum(any(one in line for line in lines) for one in wanted) / len(wanted) if wanted else None


def _rows(blocks: list[Block], text: str) -> float | None:
    """The share of rows of tables that stand in a table of the text, with the same cells."""
    wanted = [tuple(cell.lower() for cell in row) for block in blocks for row in block[2]]
    lines = {
        tuple(cell.strip("* ").lower() for cell in line.strip().strip("|").split("|"))
        for line in text.split("\n")
        if "|" in line
    }
    return sum(row in lines for row in wanted) / len(wanted) if wanted else None
