"""What a search adds to a session of research: where its results are from, and which provider has failed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ferrule_research.hosts import host_of
from ferrule_research.sessions.record import record_outcomes, record_sources
from ferrule_research.sessions.store import format_instant

if TYPE_CHECKING:
    from ferrule_research.sessions.model import Outcome, Source
    from ferrule_websearch import Attempt, Result


def record_search(
    session: str, results: Sequence[Result], attempts: Sequence[Attempt], relevance: str = "found"
) -> str:
    """Add what a search has found; "" where it is kept, else why not.

    Args:
        relevance: as a `Source` has it.
    """
    sources = [_make_source(one, relevance) for one in results]
    return record_sources(session, sources, list_outcomes(attempts))


def record_attempts(session: str, attempts: Sequence[Attempt]) -> None:
    """Add the providers that a search has asked without an answer."""
    record_outcomes(session, list_outcomes(attempts))


def list_outcomes(attempts: Sequence[Attempt]) -> list[Outcome]:
    """How the attempts at providers have ended, of those that were asked."""
    asked = [one for one in attempts if one.state in ("answered", "failed")]
    return [
        {"kind": "" if one.state == "answered" else one.kind, "provider": one.provider, "at": format_instant()}
        for one in asked
    ]


def _make_source(result: Result, relevance: str) -> Source:
    """The source that a result is. Of a patent its inventor is the author, and the day of filing its date."""
    details = result.details
    return {
        "url": result.url,
        "title": result.title,
        "relevance": relevance,
        "author": str(details.get("inventor") or ""),
        "site": host_of(result.url).removeprefix("www."),
        "date": result.published or str(details.get("filed") or ""),
    }
