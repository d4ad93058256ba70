"""Notes that hold a text, whatever its case, and those that are like it, best first, typing errors forgiven.

For likeness each word of the query is held against the words of the title and of the content's beginning, and has to
have a like in one of them. What the title says counts twice as much as what the content says.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ferrule_opennotes.notebook.notes import Note

_MIN_LIKENESS = 70.0  # of 100; `mtng` for `meeting` has 73, one letter wrong in a word of five 80
_PART_LIKENESS = 90.0  # a word that is part of a longer one
_MIN_PART_CHARS = 3
_MAX_CONTENT_CHARS = 20_000  # characters of the content that are looked at
_MAX_WORDS = 20
_WORD = re.compile(r"\w+")
UNDIVIDED = re.compile("[\u0e00-\u0eff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]")  # no blanks between words


def find_containing(notes: Iterable[Note], query: str) -> list[Note]:
    """The notes that hold the query as it stands, in their order. Letters are compared without case."""
    wanted = fold(query)
    return [note for note in notes if wanted in fold(note.text) or wanted in fold(note.name)]


def fold(text: str) -> str:
    """The text as it is compared: without case, and each letter written in one way."""
    return text.lower() if text.isascii() else unicodedata.normalize("NFC", text).casefold()


def rank(notes: Iterable[Note], query: str) -> list[Note]:
    """The notes that are like the query, the most alike first; those that are equally alike by path.

    A query without a letter has nothing to be like; it is looked for as it stands.
    """
    words = list(dict.fromkeys(_WORD.findall(fold(query))))[:_MAX_WORDS]
    if not words:
        return find_containing(notes, query)
    wanted = [_Likeness(word) for word in words]
    scored = [(_score(note, wanted), note) for note in notes]
    return [note for score, note in sorted(scored, key=lambda each: (-each[0], each[1].path)) if score]


class _Likeness(dict[str, float]):
    """How alike a word and others are, from 0 to 100: each other word is compared once, however many notes have it."""

    def __init__(self, word: str) -> None:
        from rapidfuzz.distance import OSA
        from rapidfuzz.fuzz import ratio

        super().__init__({word: 100.0})
        self.word = word
        self.may_be_part = len(word) >= _MIN_PART_CHARS or UNDIVIDED.search(word) is not None
        # Letters in the wrong order count once; letters left out count little.
        self._measure = ratio, OSA.normalized_similarity

    def __missing__(self, other: str) -> float:
        if self.may_be_part and self.word in other:
            found = _PART_LIKENESS
        else:
            ratio, similarity = self._measure
            found = max(ratio(self.word, other), 100 * similarity(self.word, other))
        self[other] = found if found >= _MIN_LIKENESS else 0.0
        return self[other]

    def find_best(self, words: set[str]) -> float:
        """How alike the word and the one that is most like it are, from 70 to 100; 0 where none is."""
        return max(map(self.__getitem__, words), default=0.0)


def _score(note: Note, wanted: list[_Likeness]) -> float:
    """How alike, from 70 to 200, on average over the words that were asked for; 0 where one of them has no like."""
    title = _find_words(note.name.replace("-", " ").replace("_", " "))
    content = _find_words(note.body[:_MAX_CONTENT_CHARS])
    total = 0.0
    for likeness in wanted:
        best = 2 * likeness.find_best(title) or likeness.find_best(content)
        if not best:
            return 0.0
        total += best
    return total / len(wanted)


def _find_words(text: str) -> set[str]:
    """The words of a text, each once. What blanks divide is looked into only where it is more than letters."""
    pieces = set(fold(text).split())
    mixed = [piece for piece in pieces if not piece.isalnum()]
    return pieces.difference(mixed).union(*map(_WORD.findall, mixed))
