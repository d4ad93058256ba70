"""The pages in their order, the best first, without those that are about something else and what stands twice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from ferrule_research.bundle.paragraphs import SeenParagraphs
from ferrule_research.bundle.scores import LEAST_RELEVANCE, Scores, score

if TYPE_CHECKING:
    from ferrule_research.bundle.pages import Source
    from ferrule_research.bundle.request import Request


class Ranked(NamedTuple):
    """A page with its scores. words: of its whole text."""

    source: Source
    scores: Scores
    words: int


class Ranking(NamedTuple):
    """The pages that are left, the best first.

    sparse: pages with few words, those that were left out included. filtered: pages that are about something else.
    repeated_paragraphs: that were left out, and repeated_pages, of which nothing was left then.
    """

    ranked: list[Ranked]
    sparse: int
    filtered: int
    repeated_paragraphs: int
    repeated_pages: int


SPARSE_WORDS = 150


def rank(sources: Sequence[Source], request: Request) -> Ranking:
    """Judge pages, and put them in order. Of two pages with the same paragraph, the better one keeps it."""
    scored = [Ranked(one, score(one, request.query), len(one.text.split())) for one in sources]
    kept = [one for one in scored if not request.is_filtered or one.scores.relevance >= LEAST_RELEVANCE]
    kept.sort(key=lambda one: -one.scores.overall)  # of equal ones, the search's order stays
    seen = SeenParagraphs()
    if request.is_deduplicated:
        kept = [one._replace(source=one.source._replace(text=seen.drop_repeats(one.source.text))) for one in kept]
    left = [one for one in kept if one.source.text.strip()]
    sparse = sum(one.words < SPARSE_WORDS for one in scored)
    return Ranking(left, sparse, len(scored) - len(kept), seen.repeated, len(kept) - len(left))
