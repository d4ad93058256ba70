"""What tools of papers add to a session of research, where a call names one, and what they take from it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ferrule_research.sessions import read_session, record_sources
from ferrule_scholar.works.identifiers import normalise_doi

if TYPE_CHECKING:
    from ferrule import JSONObject
    from ferrule_research.library import Name
    from ferrule_research.sessions import Source
    from ferrule_scholar.works.work import Work


def record_works(session: str, works: Iterable[Work]) -> str:
    """Add papers to a session; "" where they are kept, else why not. Raises nothing."""
    return record_sources(session, [_make_source(one) for one in works])


def list_sources(session: str) -> list[JSONObject]:
    """The sources of a session, as a caller of `format_bibliography` would write them. Raises ToolError."""
    return [_describe(one) for one in read_session(session)["sources"]]


def _make_source(work: Work) -> Source:
    return {
        "url": work.address,
        "title": work.title,
        "relevance": "academic",
        "author": "; ".join(_turn_round(one) for one in work.authors),
        "journal": work.venue,
        "date": work.date or (str(work.year) if work.year else ""),
        "doi": work.doi,
    }


def _turn_round(name: Name) -> str:
    """The family name first, so that its end is known when it is read again."""
    return f"{name.family}, {name.given}" if name.given and not name.literal else name.full_name()


def _describe(source: Source) -> JSONObject:
    known: JSONObject = {
        name: source[name] for name in ("url", "title", "site", "journal", "date", "doi") if source.get(name)
    }
    if source.get("author"):
        known["authors"] = [one.strip() for one in source["author"].split(";") if one.strip()]
    if not normalise_doi(source.get("doi")):  # by which a title is looked up
        known.setdefault("title", source["url"])
        known["accessed"] = source.get("recorded", "")[:10]
    return known
