"""Sources as BibTeX, RIS and CSL-JSON. The dates are those of the record, so that the same session gives the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ferrule_research.page.metadata.authors import parse_authors
from ferrule_research.page.metadata.bibliography import Bibliography, Place
from ferrule_research.page.metadata.bibtex import write_entry
from ferrule_research.page.metadata.citation import refer_to_page
from ferrule_research.page.metadata.dates import Date, read_date
from ferrule_research.page.metadata.reference import name_keys
from ferrule_research.page.metadata.ris import write_record

if TYPE_CHECKING:
    from ferrule import JSONObject
    from ferrule_research.page.metadata.reference import Reference
    from ferrule_research.sessions.model import Source

_UNKNOWN_DAY = Date(1970, 1, 1)  # of a source without a date of its record, which no tool makes


def write_bibtex(sources: Sequence[Source]) -> list[str]:
    """An entry for each source, with keys of which no two are the same."""
    return list(map(write_entry, _list_references(sources)))


def write_ris(sources: Sequence[Source]) -> list[str]:
    """A record for each source, each of whose lines begins with a tag."""
    return list(map(write_record, _list_references(sources)))


def write_csl(sources: Sequence[Source]) -> list[JSONObject]:
    """An item of CSL-JSON for each source."""
    return [one.as_csl() for one in _list_references(sources)]


FORMATS: dict[str, tuple[Callable[[Sequence[Source]], Sequence[object]], bool]] = {
    "bibtex": (write_bibtex, True),
    "ris": (write_ris, True),
    "csl-json": (write_csl, False),
}
"""What writes a format, and whether that gives texts."""


def _read_work(source: Source) -> Bibliography:
    return Bibliography(
        source.get("title", ""),
        parse_authors(source.get("author", "")),
        source.get("site", ""),
        read_date(source.get("date", "")),
        journal=source.get("journal", ""),
        place=Place(doi=source.get("doi", "")),
    )


def _read_day(source: Source) -> Date:
    return read_date(source.get("recorded", "")) or _UNKNOWN_DAY


def _list_references(sources: Sequence[Source]) -> list[Reference]:
    return name_keys(refer_to_page(_read_work(one), one["url"], _read_day(one)) for one in sources)
