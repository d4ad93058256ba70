"""The reference of a paper."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule_research.library import Date, Reference, read_date

if TYPE_CHECKING:
    from ferrule_scholar.works.work import Work

_YEARS = 10_000  # no style writes later ones, nor those before the first


def refer_to(work: Work) -> Reference:
    """What is written of a paper in any style."""
    return Reference(
        work.title,
        work.authors,
        read_date(work.date) or (Date(work.year) if 0 < work.year < _YEARS else None),
        work.venue,
        work.kind,
        work.doi,
        work.address,
        work.volume,
        work.issue,
        work.pages,
        work.publisher,
    )
