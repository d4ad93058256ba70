"""What a bundle adds to a session of research: its pages, and those that could not be read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ferrule_research.page.session_record import make_failure
from ferrule_research.sessions.record import record_sources

if TYPE_CHECKING:
    from ferrule_research.bundle.pages import Failure, Source
    from ferrule_research.bundle.ranks import Ranking
    from ferrule_research.sessions import model


def record_bundle(session: str, ranking: Ranking, failures: Sequence[Failure]) -> str:
    """Add the pages of a bundle; "" where they are kept, else why not."""
    sources = [_make_source(one.source) for one in ranking.ranked]
    return record_sources(session, sources, [make_failure(one.facts["url"], one.facts["kind"]) for one in failures])


def _make_source(source: Source) -> model.Source:
    return {
        "url": source.url,
        "title": source.title or source.found.get("title", ""),
        "relevance": "scraped",
        "author": source.authors,
        "site": source.site,
        "journal": source.journal,
        "date": source.date or source.found.get("published", ""),
        "doi": source.doi,
    }
