"""Sources as BibTeX, RIS and CSL-JSON. The dates are those of the record, so that the same session gives the same."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ferrule_research.page.metadata.authors import Name, parse_authors
from ferrule_research.page.metadata.bibliography import Bibliography, Place
from ferrule_research.page.metadata.citation import bibtex
from ferrule_research.page.metadata.dates import Date, read_date

if TYPE_CHECKING:
    from ferrule import JSONObject
    from ferrule_research.sessions.model import Source

_ENTRY = re.compile(r"@(\w+)\{([^,]*),")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_UNKNOWN_DAY = Date(1970, 1, 1)  # of a source without a date of its record, which no tool makes


def write_bibtex(sources: Sequence[Source]) -> list[str]:
    """An entry for each source, with keys of which no two are the same."""
    entries, taken = [], set()
    for one in sources:
        work = _read_work(one)
        entry = bibtex(work, one["url"], _read_day(one))
        found = _ENTRY.match(entry)
        key = made = found[2] if found else "page"
        number = 0
        while key in taken:
            key = f"{made}{_name_suffix(number)}"
            number += 1
        taken.add(key)
        entries.append(entry.replace(f"{{{made},", f"{{{key},", 1))
    return entries


def write_ris(sources: Sequence[Source]) -> list[str]:
    """A record for each source, each of whose lines begins with a tag."""
    return ["\n".join(f"{tag}  - {value}".rstrip(" ") for tag, value in _list_ris(one)) for one in sources]


def write_csl(sources: Sequence[Source]) -> list[JSONObject]:
    """An item of CSL-JSON for each source."""
    return [_write_item(one, number) for number, one in enumerate(sources, start=1)]


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


def _name_suffix(number: int) -> str:
    """a, b, … z, aa, ab, …"""
    name = ""
    number += 1
    while number:
        number, letter = divmod(number - 1, len(_LETTERS))
        name = _LETTERS[letter] + name
    return name


def _list_ris(source: Source) -> list[tuple[str, str]]:
    work = _read_work(source)
    date = work.date
    pairs = [
        ("TY", "JOUR" if work.journal else "ELEC"),
        ("TI", work.title),
        *(("AU", one.family if one.literal else one.inverted_name()) for one in work.authors),
        ("PY", str(date.year) if date else ""),
        ("DA", "/".join(f"{part:02}" for part in date if part) if date and date.month else ""),
        ("T2", work.journal or work.site),
        ("DO", work.place.doi),
        ("UR", source["url"]),
        ("Y2", "/".join(f"{part:02}" for part in _read_day(source))),
    ]
    return [*((tag, " ".join(value.split())) for tag, value in pairs if value), ("ER", "")]


def _write_item(source: Source, number: int) -> JSONObject:
    work = _read_work(source)
    container = work.journal or work.site
    item: JSONObject = {
        "id": f"source-{number}",
        "type": "article-journal" if work.journal else "webpage",
        "title": work.title,
        "author": [_write_name(one) for one in work.authors],
        "issued": _write_date(work.date),
        "container-title": container,
        "DOI": work.place.doi,
        "URL": source["url"],
        "accessed": _write_date(_read_day(source)),
    }
    return {name: value for name, value in item.items() if value}


def _write_name(name: Name) -> dict[str, str]:
    if name.literal or not name.given:
        return {"literal": name.family}
    suffix = {"suffix": name.suffix} if name.suffix else {}
    return {"family": name.family, "given": name.given, **suffix}


def _write_date(date: Date | None) -> JSONObject:
    return {"date-parts": [[part for part in date if part]]} if date else {}
