"""Citations: APA, MLA, BibTeX."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ferrule_research.page.metadata.bibtex import write_entry
from ferrule_research.page.metadata.dates import MONTHS, Date
from ferrule_research.page.metadata.reference import JOURNAL, WEBPAGE, Reference, name_keys

if TYPE_CHECKING:
    from ferrule import JSONObject
    from ferrule_research.page.metadata.authors import Name
    from ferrule_research.page.metadata.bibliography import Bibliography

_MLA_MONTHS = ("Jan.", "Feb.", "Mar.", "Apr.", "May", "June", "July", "Aug.", "Sept.", "Oct.", "Nov.", "Dec.")
_APA_MAX_AUTHORS = 20  # of more, the first nineteen and the last are named
_ENDS = (".", "?", "!", "…")
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
    """An entry `@article` for what is in a journal, else `@misc`."""
    (reference,) = name_keys([refer_to_page(work, url, accessed)])
    return write_entry(reference)


def refer_to_page(work: Bibliography, url: str, accessed: Date) -> Reference:
    """The reference of a page: an article where it stands in a journal."""
    place = work.place
    doi = _DOI.search(place.doi)
    return Reference(
        work.title or "Untitled",
        work.authors,
        work.date,
        work.journal or work.site,
        JOURNAL if work.journal else WEBPAGE,
        doi[0] if doi else "",
        url,
        place.volume,
        place.issue,
        _join_pages(work, "-"),
        place.publisher if work.journal else "",
        accessed,
    )


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


def _with_full_stop(text: str) -> str:
    return text if not text or text.endswith(_ENDS) else f"{text}."
