"""What tools add to a session: sources, each once, and how their attempts have ended."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ferrule import ToolError
from ferrule_research.addresses import canonical
from ferrule_research.sessions.store import change_session, format_instant
from ferrule_research.sessions.texts import make_line

if TYPE_CHECKING:
    from ferrule_research.sessions.model import Outcome, Session, Source

MAX_SOURCES = 1000
_MAX_OUTCOMES = 200
_MAX_URL_CHARS = 4096
_LENGTHS_CHARS = {"title": 500, "relevance": 40, "author": 2000, "site": 200, "journal": 300, "date": 40, "doi": 200}
_RANKS = ("found", "scraped", "patent", "academic")  # of what says more of how a source was had


def record_sources(session: str, sources: Sequence[Source], outcomes: Sequence[Outcome] = ()) -> str:
    """Add sources to a session, each once: by its address, or its DOI. The first stays, and later ones add to it.

    Args:
        outcomes: how attempts have ended, see `record_outcomes`.

    Returns:
        "" where they are kept, else why not, as a clause. Nothing is raised, since what was found is worth more than
        the record of it.
    """

    def change(found: Session) -> bool:
        before = [dict(one) for one in found["sources"]]
        for source in sources:
            _add_source(found, source)
        return _add_outcomes(found, outcomes) or before != found["sources"]

    return _try_change(session, change)


def record_outcomes(session: str, outcomes: Sequence[Outcome]) -> str:
    """Add how attempts have ended; the latest 200 stay. Returns as `record_sources` does."""

    return record_sources(session, (), outcomes)


def _add_outcomes(session: Session, outcomes: Sequence[Outcome]) -> bool:
    session["outcomes"] = [*session["outcomes"], *outcomes][-_MAX_OUTCOMES:]
    return bool(outcomes)


def _try_change(session: str, change: Callable[[Session], bool]) -> str:
    try:
        change_session(session, change)
    except ToolError as error:
        return error.message.rstrip(".")
    return ""


def _add_source(session: Session, source: Source) -> None:
    made = _read_source(source)
    if made is None:
        return
    known = _find_source(session["sources"], made)
    if known is None:
        if len(session["sources"]) < MAX_SOURCES:
            if session["steps"]:
                made["foundInStep"] = session["steps"][-1]["stepNumber"]
            session["sources"].append({**made, "recorded": format_instant()})
        return
    for name, value in made.items():
        if value and not known.get(name):
            known[name] = value  # type: ignore[literal-required] # the names are those of a source
    if _rank(made) > _rank(known):
        known["relevance"] = made["relevance"]


def _find_source(sources: Sequence[Source], wanted: Source) -> Source | None:
    place, doi = canonical(wanted["url"]), wanted.get("doi", "").lower()
    for one in sources:
        if canonical(one["url"]) == place or (doi and one.get("doi", "").lower() == doi):
            return one
    return None


def _read_source(source: Source) -> Source | None:
    """A source within its bounds; None for what has no address of the web."""
    url = make_line(source.get("url"), _MAX_URL_CHARS + 1)
    if len(url) > _MAX_URL_CHARS or " " in url or not _is_address(url):
        return None
    made: Source = {"url": url}
    for name, length in _LENGTHS_CHARS.items():
        if text := make_line(source.get(name), length):
            made[name] = text  # type: ignore[literal-required] # the names are those of a source
    return made


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname)


def _rank(source: Source) -> int:
    relevance = source.get("relevance", "")
    return _RANKS.index(relevance) if relevance in _RANKS else -1
