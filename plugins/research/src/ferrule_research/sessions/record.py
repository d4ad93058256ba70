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

    A page can name the DOI of any paper. So of two with a DOI in common and different addresses, the one that was had
    in a better way stays, such as the record of a paper in place of a page, and takes nothing from the other.

    Args:
        outcomes: how attempts have ended, see `record_outcomes`.

    Returns:
        "" where they are kept, else why not, as a clause. Nothing is raised, since what was found is worth more than
        the record of it.
    """
    refused: list[Source] = []

    def change(found: Session) -> bool:
        before = [dict(one) for one in found["sources"]]
        refused.extend(source for source in sources if not _add_source(found, source))
        return _add_outcomes(found, outcomes) or before != found["sources"]

    why = _try_change(session, change)
    if not why and refused:
        return f"the session has {MAX_SOURCES:,} sources, which is the most that it keeps: {len(refused)} were left out"
    return why


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


def _add_source(session: Session, source: Source) -> bool:
    """Whether there was room for it. What has no address of the web takes none."""
    made = _read_source(source)
    if made is None:
        return True
    known = _find_source(session["sources"], made)
    if known is not None:
        _join(known, made)
        return True
    if len(session["sources"]) >= MAX_SOURCES:
        return False
    if session["steps"]:
        made["foundInStep"] = session["steps"][-1]["stepNumber"]
    session["sources"].append({**made, "recorded": format_instant()})
    return True


def _join(known: Source, made: Source) -> None:
    """Let a source that is known have what another record of it says."""
    gain = _rank(made) - _rank(known)
    if canonical(known["url"]) == canonical(made["url"]) or not gain:
        _fill(known, made)
        if gain > 0:
            known["relevance"] = made["relevance"]
    elif gain > 0:
        for name in ("url", *_LENGTHS_CHARS):
            known.pop(name, None)  # type: ignore[misc] # the names are those of a source
        known.update(made)


def _fill(known: Source, made: Source) -> None:
    for name, value in made.items():
        if value and not known.get(name):
            known[name] = value  # type: ignore[literal-required] # the names are those of a source


def _find_source(sources: Sequence[Source], wanted: Source) -> Source | None:
    """The source with the same address, else with the same DOI."""
    place, doi = canonical(wanted["url"]), wanted.get("doi", "").lower()
    by_doi = None
    for one in sources:
        if canonical(one["url"]) == place:
            return one
        if by_doi is None and doi and one.get("doi", "").lower() == doi:
            by_doi = one
    return by_doi


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
        _ = parts.port  # it raises where the port is none
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname)


def _rank(source: Source) -> int:
    relevance = source.get("relevance", "")
    return _RANKS.index(relevance) if relevance in _RANKS else -1
