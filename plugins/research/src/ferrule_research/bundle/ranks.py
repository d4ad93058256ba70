"""The pages in their order, the best first, without those that are about something else and what stands twice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from ferrule_research.bundle.paragraphs import LEAST_CHARS, SeenParagraphs
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
    left = kept
    if request.is_deduplicated:
        left = [shorter for one in kept if (shorter := _drop_repeats(one, seen)) is not None]
    sparse = sum(one.words < SPARSE_WORDS for one in scored)
    return Ranking(left, sparse, len(scored) - len(kept), seen.repeated, len(kept) - len(left))


def _drop_repeats(one: Ranked, seen: SeenParagraphs) -> Ranked | None:
    """A page without what stands on a better one; None where hardly more than its headings is left then."""
    text = seen.drop_repeats(one.source.text)
    if text != one.source.text and len("".join(text.split())) < LEAST_CHARS:
        return None
    return one._replace(source=one.source._replace(text=text))
