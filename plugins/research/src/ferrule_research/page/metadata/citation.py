"""Citations: APA, MLA, BibTeX."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ferrule_research.page.metadata.dates import MONTHS, Date
from ferrule_research.page.metadata.hosts import host_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ferrule_research.page.metadata.authors import Name
    from ferrule_research.page.metadata.bibliography import Facts

_MLA_MONTHS = ("Jan.", "Feb.", "Mar.", "Apr.", "May", "June", "July", "Aug.", "Sept.", "Oct.", "Nov.", "Dec.")
_APA_MOST = 20  # authors; of more, the first nineteen and the last are named
_ENDS = (".", "?", "!", "…")
_TEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{sign: f"\\{sign}" for sign in "{}$&#%_"},
}
_SMALL_WORDS = frozenset(
    ["a", "an", "the", "on", "of", "in", "and", "for", "to", "der", "die", "das", "la", "le", "el"]
)
_HIGHWIRE = {"volume": "citation_volume", "number": "citation_issue", "publisher": "citation_publisher"}


def citation(facts: Facts, url: str, accessed: Date, highwire: Mapping[str, str]) -> dict[str, Any]:
    """The citation of a page: `{"url", "accessedDate", "metadata", "formatted": {"apa", "mla", "bibtex"}}`."""
    date = facts.date.iso() if facts.date else ""
    return {
        "url": url,
        "accessedDate": accessed.iso(),
        "metadata": {"title": facts.title, "author": facts.author, "site": facts.site, "date": date},
        "formatted": {
            "apa": apa(facts, url),
            "mla": mla(facts, url, accessed),
            "bibtex": bibtex(facts, url, accessed, highwire),
        },
    }


def apa(facts: Facts, url: str) -> str:
    """`Doe, J., & Roe, R. (2024, March 5). Title. Site. URL`; without an author the title comes first."""
    authors = _apa_authors(facts.authors)
    title = facts.title or "Untitled"
    date = f"({_apa_date(facts.date)})."
    site = "" if facts.site in (authors, authors.rstrip(".")) else _stopped(facts.site)
    head = [_stopped(authors), date, _stopped(title)] if authors else [_stopped(title), date]
    return " ".join(filter(None, [*head, site, url]))


def mla(facts: Facts, url: str, accessed: Date) -> str:
    """`Doe, Jane, and Richard Roe. "Title." Site, 5 Mar. 2024, URL. Accessed 21 Nov. 2026.`"""
    authors = _stopped(_mla_authors(facts.authors))
    title = '"' + _stopped((facts.title or "Untitled").replace('"', "'")) + '"'
    container = ", ".join(filter(None, [facts.site, _mla_date(facts.date), url]))
    seen = f"Accessed {_mla_date(accessed)}."
    return " ".join(filter(None, [authors, title, f"{container}.", seen]))


def bibtex(facts: Facts, url: str, accessed: Date, highwire: Mapping[str, str]) -> str:
    """An entry `@article` for what is in a journal, else `@misc`. What TeX takes for a command is escaped."""
    where = {"journal": facts.journal} if facts.journal else {"organization": facts.site}
    pages = "--".join(filter(None, [highwire.get("citation_firstpage"), highwire.get("citation_lastpage")]))
    fields = {
        "author": _bibtex_authors(facts.authors),
        "title": "{" + _tex(facts.title or "Untitled") + "}",
        **{name: _tex(value) for name, value in where.items()},
        **({name: _tex(highwire.get(tag, "")) for name, tag in _HIGHWIRE.items()} if facts.journal else {}),
        "pages": _tex(pages) if facts.journal else "",
        "year": f"{facts.date.year}" if facts.date else "",
        "month": f"{facts.date.month}" if facts.date and facts.date.month else "",
        "doi": _verbatim(highwire.get("citation_doi", "")),
        "url": _verbatim(url),
        "urldate": accessed.iso(),
        "note": f"Accessed {accessed.iso()}",
    }
    lines = [f"  {name} = {{{value}}}" for name, value in fields.items() if value]
    kind = "article" if facts.journal else "misc"
    return f"@{kind}{{{_key(facts, url)},\n" + ",\n".join(lines) + "\n}"


def _apa_authors(authors: list[Name]) -> str:
    written = [_apa_author(name) for name in authors]
    if len(written) > _APA_MOST:
        return ", ".join(written[: _APA_MOST - 1]) + f", … {written[-1]}"
    return written[0] if len(written) == 1 else ", ".join(written[:-1]) + f", & {written[-1]}" if written else ""


def _apa_author(name: Name) -> str:
    if name.literal or not name.given:
        return name.family
    return ", ".join(filter(None, [name.family, name.initials() or name.given, name.suffix]))


def _apa_date(date: Date | None) -> str:
    if date is None:
        return "n.d."
    if not date.month:
        return str(date.year)
    return f"{date.year}, {MONTHS[date.month - 1]}" + (f" {date.day}" if date.day else "")


def _mla_authors(authors: list[Name]) -> str:
    if not authors:
        return ""
    first = authors[0].family if authors[0].literal else authors[0].inverted()
    if len(authors) == 1:
        return first
    return f"{first}, and {authors[1].straight()}" if len(authors) == 2 else f"{first}, et al."


def _mla_date(date: Date | None) -> str:
    if date is None:
        return ""
    month = _MLA_MONTHS[date.month - 1] if date.month else ""
    return " ".join(filter(None, [str(date.day or ""), month, str(date.year)]))


def _bibtex_authors(authors: list[Name]) -> str:
    written = []
    for name in authors:
        if name.literal or not name.given:
            written.append("{" + _tex(name.family) + "}")
        else:
            written.append(", ".join(_tex(part) for part in (name.family, name.suffix, name.given) if part))
    return " and ".join(written)


def _tex(text: str) -> str:
    return "".join(_TEX.get(letter, letter) for letter in " ".join(text.split()))


def _verbatim(url: str) -> str:
    """An address, in which nothing is escaped, and which may not end the field."""
    return "".join(url.split()).replace("\\", "%5C").replace("{", "%7B").replace("}", "%7D")


def _key(facts: Facts, url: str) -> str:
    who = _plain(facts.authors[0].family) if facts.authors else ""
    words = [word for word in re.findall(r"\w+", facts.title) if word.lower() not in _SMALL_WORDS]
    what = _plain(words[0]) if words else ""
    year = str(facts.date.year) if facts.date else "nd"
    return f"{who or _plain(host_of(url)) or 'page'}{year}{what}"


def _plain(text: str) -> str:
    if not text.isascii():
        import unicodedata

        text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return "".join(letter for letter in text.lower() if letter.isalnum())[:30]


def _stopped(text: str) -> str:
    return text if not text or text.endswith(_ENDS) else f"{text}."
