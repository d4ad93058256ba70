"""How good a page is as an answer: by rules, each a number from 0 to 1. A hint for the order, and no verdict."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, NamedTuple

from ferrule_research.hosts import host_of
from ferrule_research.page.metadata.dates import Date, read_date
from ferrule_research.search.claims import extract_words
from ferrule_research.search.reputation import find_reputation

if TYPE_CHECKING:
    from ferrule_research.bundle.pages import Source

LEAST_RELEVANCE = 0.3  # of a page that is kept where pages are filtered
_WEIGHTS = {"relevance": 0.35, "freshness": 0.20, "authority": 0.25, "contentQuality": 0.20}
_UNKNOWN = 0.5
_TITLE_SHARE = 0.4  # of the relevance; the rest is the text's
_AGES_DAYS = ((1, 1.0), (7, 0.9), (30, 0.7), (365, 0.5))
_OLD = 0.3
_TIERS = {"high": 0.9, "medium": 0.7, "mixed": 0.6, "low": 0.2}
_LENGTHS_WORDS = ((500, 0.3), (200, 0.2), (50, 0.1))
_MAX_CHARS = 200_000  # of a text that are looked at
_SENTENCE_END = re.compile(r"[.!?。！？](?=\s|$)")


class Scores(NamedTuple):
    """The scores of a page; `overall` weighs the others."""

    overall: float
    relevance: float
    freshness: float
    authority: float
    contentQuality: float

    @property
    def best(self) -> str:
        """The name of the highest of the four."""
        return max(_WEIGHTS, key=lambda name: float(getattr(self, name)))


def score(source: Source, query: str) -> Scores:
    """The scores of a page for a query, each with two decimals."""
    parts = {
        "relevance": _score_relevance(query, source.title, source.text[:_MAX_CHARS]),
        "freshness": _score_freshness(source.date or source.found.get("published", "")),
        "authority": _score_authority(source),
        "contentQuality": _score_quality(source.text[:_MAX_CHARS]),
    }
    overall = sum(_WEIGHTS[name] * value for name, value in parts.items())
    return Scores(round(overall, 2), *(round(value, 2) for value in parts.values()))


def _score_relevance(query: str, title: str, text: str) -> float:
    """The share of the query's words that the page has, longer ones weighing more. `art` is not in `start`."""
    words = extract_words(query)
    if not words:
        return _UNKNOWN
    total = sum(map(len, words))
    in_title, in_text = (sum(map(len, words & extract_words(part))) / total for part in (title, text))
    return _TITLE_SHARE * in_title + (1 - _TITLE_SHARE) * in_text


def _score_freshness(written: str) -> float:
    date = read_date(written)
    if date is None:
        return _UNKNOWN
    age = _count_days(Date(*time.gmtime()[:3])) - _count_days(date)
    return next((value for days, value in _AGES_DAYS if age < days), _OLD)


def _count_days(date: Date) -> int:
    """The number of a day; a date without a month or a day counts as the first one that it may be."""
    from datetime import date as calendar_date

    return calendar_date(date.year, date.month or 1, date.day or 1).toordinal()


def _score_authority(source: Source) -> float:
    if reputation := find_reputation(host_of(source.url)):
        return _TIERS.get(reputation["tier"], _UNKNOWN)
    tier = source.facts.get("authorityTier")
    return _TIERS[tier] if tier in ("high", "medium") else _UNKNOWN


def _score_quality(text: str) -> float:
    words = text.split()
    if not words:
        return 0.0
    length = next((value for count, value in _LENGTHS_WORDS if len(words) > count), 0.0)
    is_prose = 3 <= sum(map(len, words)) / len(words) <= 10
    has_paragraphs, has_links = text.count("\n\n") > 2, "http" in text
    has_sentences = len(_SENTENCE_END.findall(text)) > 5
    return min(1.0, length + 0.2 * is_prose + 0.2 * has_paragraphs + 0.1 * has_links + 0.2 * has_sentences)
