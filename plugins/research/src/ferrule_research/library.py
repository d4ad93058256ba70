"""Public: what other plugins share of research: names, dates and notices of papers, claims, embedded data.

Each name is imported when it is first used; import it inside `execute`.

- `Name`, `parse_person`, `parse_organisation`, `parse_authors`: authors, taken apart.
- `Date`, `read_date`: dates as pages write them.
- `Notice`, `gravest_notice`: what a record of Crossref says of retractions and corrections.
- `find_doi`, `find_url_doi`, `detect_doi`, `read_embedded`, `read_bibliography`: what a scholarly page says of itself.
- `classify_host`: what kind of source a page is, by its host alone.
- `find_claim_signal`, `STOP_WORDS`, `simplify`: evidence on a claim, and words that carry none.
- `Reference`, `sort_by_key`, `write_bibtex`, `write_ris`: references, and the formats that all tools write them in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule.lazy import attach

if TYPE_CHECKING:
    from ferrule_research.page.credibility.classification import classify_host
    from ferrule_research.page.credibility.doi import detect_doi, find_doi, find_url_doi
    from ferrule_research.page.credibility.retractions import Notice, gravest_notice
    from ferrule_research.page.metadata.authors import Name, parse_authors, parse_organisation, parse_person
    from ferrule_research.page.metadata.bibliography import read_bibliography
    from ferrule_research.page.metadata.bibtex import write_bibtex
    from ferrule_research.page.metadata.dates import Date, read_date
    from ferrule_research.page.metadata.embedded import read_embedded
    from ferrule_research.page.metadata.reference import JOURNAL, PREPRINT, WEBPAGE, Reference, sort_by_key
    from ferrule_research.page.metadata.ris import write_ris
    from ferrule_research.search.claims import STOP_WORDS, find_claim_signal
    from ferrule_research.search.hints import simplify

__all__ = [
    "JOURNAL",
    "PREPRINT",
    "STOP_WORDS",
    "WEBPAGE",
    "Date",
    "Name",
    "Notice",
    "Reference",
    "classify_host",
    "detect_doi",
    "find_claim_signal",
    "find_doi",
    "find_url_doi",
    "gravest_notice",
    "parse_authors",
    "parse_organisation",
    "parse_person",
    "read_bibliography",
    "read_date",
    "read_embedded",
    "simplify",
    "sort_by_key",
    "write_bibtex",
    "write_ris",
]

_METADATA, _CREDIBILITY = "ferrule_research.page.metadata", "ferrule_research.page.credibility"


__getattr__ = attach(
    __name__,
    {
        **dict.fromkeys(("Name", "parse_authors", "parse_organisation", "parse_person"), f"{_METADATA}.authors"),
        **dict.fromkeys(("Date", "read_date"), f"{_METADATA}.dates"),
        **dict.fromkeys(("Notice", "gravest_notice"), f"{_CREDIBILITY}.retractions"),
        **dict.fromkeys(("detect_doi", "find_doi", "find_url_doi"), f"{_CREDIBILITY}.doi"),
        **dict.fromkeys(("STOP_WORDS", "find_claim_signal"), "ferrule_research.search.claims"),
        "classify_host": f"{_CREDIBILITY}.classification",
        **dict.fromkeys(("JOURNAL", "PREPRINT", "WEBPAGE", "Reference", "sort_by_key"), f"{_METADATA}.reference"),
        "write_bibtex": f"{_METADATA}.bibtex",
        "write_ris": f"{_METADATA}.ris",
        "read_bibliography": f"{_METADATA}.bibliography",
        "read_embedded": f"{_METADATA}.embedded",
        "simplify": "ferrule_research.search.hints",
    },
)
