"""Citations: APA, MLA, BibTeX."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ferrule_research.hosts import host_of
from ferrule_research.page.metadata.dates import MONTHS, Date

if TYPE_CHECKING:
    from ferrule import JSONObject
    from ferrule_research.page.metadata.authors import Name
    from ferrule_research.page.metadata.bibliography import Bibliography

_MLA_MONTHS = ("Jan.", "Feb.", "Mar.", "Apr.", "May", "June", "July", "Aug.", "Sept.", "Oct.", "Nov.", "Dec.")
_APA_MAX_AUTHORS = 20  # of more, the first nineteen and the last are named
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
_DOI = re.compile(r"10\.\d{4,9}/\S+")


def cite(work: Bibliography, url: str, accessed: Date) -> JSONObject:
    """How a page is cited: `{"url", "accessedDate", "metadata", "formatted"}`."""
    date = work.date.iso() if work.date else ""
    return {
        "url": url,
        "accessedDate": accessed.iso(),
        "metadata": {"title": work.title, "author": work.author, "site": work.site, "date": date},
        "formatted": {
            "apa": apa(work, url),
            "mla": mla(work, url, accessed),
            "bibtex": bibtex(work, url, accessed),
        },
    }


def apa(work: Bibliography, url: str) -> str:
    """`Doe, J., & Roe, R. (2024, March 5). Title. Site. URL`; without an author the title comes first.

    What stands in a journal: `Doe, J. (2024). Title. Journal, 12(3), 45–67. https://doi.org/10.1000/x`.
    """
    authors = _apa_authors(work.authors)
    title = work.title or "Untitled"
    date = f"({_apa_date(work.date)})."
    site = "" if work.site in (authors, authors.rstrip(".")) else _with_full_stop(_make_apa_container(work))
    head = [_with_full_stop(authors), date, _with_full_stop(title)] if authors else [_with_full_stop(title), date]
    return " ".join(filter(None, [*head, site, _make_doi_address(work) or url]))


def mla(work: Bibliography, url: str, accessed: Date) -> str:
    """`Doe, Jane, and Richard Roe. "Title." Site, 5 Mar. 2024, URL. Accessed 21 Nov. 2026.`

    What stands in a journal: `Doe, Jane. "Title." Journal, vol. 12, no. 3, 2024, pp. 45-67, https://doi.org/10.1000/x.`
    """
    authors = _with_full_stop(_mla_authors(work.authors))
    title = '"' + _with_full_stop((work.title or "Untitled").replace('"', "'")) + '"'
    numbers, pages = _make_mla_place(work)
    address = _make_doi_address(work)
    container = ", ".join(filter(None, [work.site, *numbers, _mla_date(work.date), pages, address or url]))
    seen = "" if address else f"Accessed {_mla_date(accessed)}."
    return " ".join(filter(None, [authors, title, f"{container}.", seen]))


def bibtex(work: Bibliography, url: str, accessed: Date) -> str:
    """An entry `@article` for what is in a journal, else `@misc`. What TeX takes for a command is escaped."""
    place = work.place
    in_journal = {
        "journal": work.journal,
        "volume": place.volume,
        "number": place.issue,
        "publisher": place.publisher,
        "pages": _join_pages(work, "--"),
    }
    fields = {
        "author": _bibtex_authors(work.authors),
        "title": "{" + escape_tex(work.title or "Untitled") + "}",
        **{
            name: escape_tex(value)
            for name, value in (in_journal if work.journal else {"organization": work.site}).items()
        },
        "year": f"{work.date.year}" if work.date else "",
        "month": f"{work.date.month}" if work.date and work.date.month else "",
        "doi": _verbatim(place.doi),
        "url": _verbatim(url),
        "urldate": accessed.iso(),
    }
    lines = [f"  {name} = {{{value}}}" for name, value in fields.items() if value]
    kind = "article" if work.journal else "misc"
    return f"@{kind}{{{_key(work, url)},\n" + ",\n".join(lines) + "\n}"


def _join_pages(work: Bibliography, dash: str) -> str:
    first, last = work.place.first, work.place.last
    return dash.join(dict.fromkeys(filter(None, [first, last])))


def _make_doi_address(work: Bibliography) -> str:
    """The address that a DOI of the page's own leads to; empty where it has none."""
    found = _DOI.search(work.place.doi)
    return f"https://doi.org/{found[0]}" if found else ""


def _make_apa_container(work: Bibliography) -> str:
    """`Journal, 12(3), 45–67`, as far as it is known; the site of what is in no journal."""
    if not work.journal:
        return work.site
    volume, issue = work.place.volume, work.place.issue
    number = f"{volume}({issue})" if issue else volume
    return ", ".join(filter(None, [work.journal, number, _join_pages(work, "–")]))


def _make_mla_place(work: Bibliography) -> tuple[list[str], str]:
    """The volume and the issue, and the pages, in words."""
    if not work.journal:
        return [], ""
    volume, issue, pages = work.place.volume, work.place.issue, _join_pages(work, "-")
    numbers = [f"vol. {volume}" if volume else "", f"no. {issue}" if issue else ""]
    return numbers, f"{'pp.' if '-' in pages else 'p.'} {pages}" if pages else ""


def _apa_authors(authors: list[Name]) -> str:
    written = [_apa_author(name) for name in authors]
    if len(written) > _APA_MAX_AUTHORS:
        return ", ".join(written[: _APA_MAX_AUTHORS - 1]) + f", … {written[-1]}"
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
    first = authors[0].family if authors[0].literal else authors[0].inverted_name()
    if len(authors) == 1:
        return first
    return f"{first}, and {authors[1].full_name()}" if len(authors) == 2 else f"{first}, et al."


def _mla_date(date: Date | None) -> str:
    if date is None:
        return ""
    month = _MLA_MONTHS[date.month - 1] if date.month else ""
    return " ".join(filter(None, [str(date.day or ""), month, str(date.year)]))


def _bibtex_authors(authors: list[Name]) -> str:
    written = []
    for name in authors:
        if name.literal or not name.given:
            written.append("{" + escape_tex(name.family) + "}")
        else:
            written.append(", ".join(escape_tex(part) for part in (name.family, name.suffix, name.given) if part))
    return " and ".join(written)


def escape_tex(text: str) -> str:
    """A text of one line, in which TeX finds no command."""
    return "".join(_TEX.get(letter, letter) for letter in " ".join(text.split()))


def _verbatim(url: str) -> str:
    """An address, in which nothing is escaped, and which may not end the field."""
    return "".join(url.split()).replace("\\", "%5C").replace("{", "%7B").replace("}", "%7D")


def _key(work: Bibliography, url: str) -> str:
    who = _as_key(work.authors[0].family) if work.authors else ""
    words = [word for word in re.findall(r"\w+", work.title) if word.lower() not in _SMALL_WORDS]
    what = _as_key(words[0]) if words else ""
    year = str(work.date.year) if work.date else "nd"
    return f"{who or _as_key(host_of(url)) or 'page'}{year}{what}"


def _as_key(text: str) -> str:
    if not text.isascii():
        import unicodedata

        text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return "".join(letter for letter in text.lower() if letter.isalnum())[:30]


def _with_full_stop(text: str) -> str:
    return text if not text or text.endswith(_ENDS) else f"{text}."
