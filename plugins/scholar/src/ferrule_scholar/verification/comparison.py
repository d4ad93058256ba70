"""How well a reference, as it is written, fits the record of a work: by words, never by parts of words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from ferrule_research.library import STOP_WORDS
from ferrule_scholar.works.titles import title_words

if TYPE_CHECKING:
    from ferrule_scholar.works.work import Work

HIGH, MEDIUM, LOW, NONE = "high", "medium", "low", "none"
MATCH, MISMATCH, NOT_CHECKED = "match", "mismatch", "not_checked"
_ORDER = (NONE, LOW, MEDIUM, HIGH)
_MOST, _MANY, _SOME = 0.9, 0.7, 0.4  # of a title's words, in their order
_LEAST_WORDS = 3  # beyond a DOI, for a text to be compared with a title
_YEAR = re.compile(r"(?<!\d)(1[5-9]\d\d|20\d\d)(?!\d)")
_YEARS_APART = 1  # online and in print


class Fit(NamedTuple):
    """How a reference fits a record. confidence: one of the four levels; the others: match, mismatch, not_checked."""

    confidence: str
    title: str
    author: str
    year: str

    @property
    def rank(self) -> int:
        """The confidence as a number, from 0."""
        return _ORDER.index(self.confidence)


def compare(written: str, work: Work) -> Fit:
    """A reference against a record. written: without its identifier or address."""
    words = title_words(written)
    share = _share(title_words(work.title), words)
    author, year = _compare_author(written, work), _compare_year(written, work)
    if len([one for one in words if one not in STOP_WORDS and not one.isdigit()]) < _LEAST_WORDS and share < _MOST:
        return Fit(NONE, NOT_CHECKED, author, year)
    title = MATCH if share >= _MANY else MISMATCH
    return Fit(_confidence(share, author, year), title, author, year)


def _confidence(share: float, author: str, year: str) -> str:
    if share >= _MOST:
        return HIGH if MISMATCH not in (author, year) else MEDIUM
    if share >= _MANY:
        return MEDIUM if MISMATCH not in (author, year) else LOW
    return LOW if share >= _SOME else NONE


def _share(title: Sequence[str], words: Sequence[str]) -> float:
    """The share of a title's words that come in a text, in their order (the longest common subsequence)."""
    if not title:
        return 0.0
    row = [0] * (len(words) + 1)
    for one in title:
        before = 0
        for place, word in enumerate(words, start=1):
            before, row[place] = row[place], before + 1 if one == word else max(row[place], row[place - 1])
    return row[-1] / len(title)


def _compare_author(written: str, work: Work) -> str:
    """Whether the family of one of the first authors is named.

    A text that begins with the title names no author before it, and what follows it may be a venue. So a name that is
    none of the authors' counts only where it stands before the title.
    """
    families = [set(title_words(name.family)) for name in work.authors[:3]]
    words = title_words(written)
    if any(family <= set(words) for family in families if family):
        return MATCH
    known = set(title_words(work.title)) | set(title_words(work.venue)) | STOP_WORDS
    before = [one for one in _before_title(words, title_words(work.title)) if one.isalpha() and len(one) > 1]
    return MISMATCH if families and set(before) - known else NOT_CHECKED


def _before_title(words: Sequence[str], title: Sequence[str]) -> Sequence[str]:
    """The words of a reference that stand before its title; all of them where the title is not in it as it is."""
    places = (place for place in range(len(words)) if words[place : place + len(title)] == title)
    return words[: next(places, len(words))] if title else words


def _compare_year(written: str, work: Work) -> str:
    years = [int(one) for one in _YEAR.findall(written) if one not in title_words(work.title)]
    if not years or not work.year:
        return NOT_CHECKED
    return MATCH if any(abs(year - work.year) <= _YEARS_APART for year in years) else MISMATCH
