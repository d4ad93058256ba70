"""What a page that was read adds to a session of research, and one that could not be read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ferrule import ToolError
from ferrule_research.sessions.record import record_outcomes, record_sources
from ferrule_research.sessions.store import format_instant

if TYPE_CHECKING:
    from ferrule_research.page.metadata.bibliography import Bibliography
    from ferrule_research.page.request import Request
    from ferrule_research.sessions.model import Outcome, Source


def record_page(session: str, url: str, work: Bibliography | None) -> str:
    """Add a page that was read; "" where it is kept, else why not. work: None for one that was read raw."""
    return record_sources(session, [make_source(url, work)], [{"kind": "", "url": url, "at": format_instant()}])


def make_source(url: str, work: Bibliography | None) -> Source:
    """The source that a page is."""
    source: Source = {"url": url, "relevance": "scraped"}
    if work is not None:
        source |= {
            "title": work.title,
            "author": work.author,
            "site": work.site,
            "journal": work.journal,
            "date": work.date.iso() if work.date else "",
            "doi": work.place.doi,
        }
    return source


def make_failure(url: str, kind: str) -> Outcome:
    """The outcome that a page is which could not be read."""
    return {"kind": kind, "url": url[:1000], "at": format_instant()}


@contextmanager
def recording_failures(request: Request) -> Iterator[None]:
    """Add the failure that the block raises to the session of the request."""
    try:
        yield
    except ToolError as error:
        kind = (error.details or {}).get("kind")
        if isinstance(kind, str):
            record_outcomes(request.session, [make_failure(request.url.strip().partition("?")[0], kind)])
        raise
