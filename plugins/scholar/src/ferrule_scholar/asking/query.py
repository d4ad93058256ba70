"""What papers are searched for, and the same held against what was found."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ferrule_scholar.works.titles import title_words

if TYPE_CHECKING:
    from ferrule_scholar.works.work import Work

RELEVANCE, DATE = "relevance", "date"
_DOI_PREFIXES = {"ieee": "10.1109/", "nature": "10.1038/", "springer": "10.1007/"}
SOURCES = ("all", "arxiv", "pubmed", *_DOI_PREFIXES)


class WorkQuery(NamedTuple):
    """A search for papers.

    Args:
        limit: how many are wanted, which a service may exceed. year_from, year_to: 0 for no bound.
        source: one of `SOURCES`. sort: `RELEVANCE` or `DATE`. least_citations: 0 where all count. full_text: PubMed is
            asked for papers whose text it has alone.
    """

    text: str
    limit: int = 10
    year_from: int = 0
    year_to: int = 0
    author: str = ""
    venue: str = ""
    open_access: bool = False
    pdf_only: bool = False
    least_citations: int = 0
    source: str = "all"
    sort: str = RELEVANCE
    full_text: bool = False

    @property
    def doi_prefix(self) -> str:
        """What the DOIs of the wanted publisher begin with; "" for all."""
        return _DOI_PREFIXES.get(self.source, "")

    @property
    def filters(self) -> list[str]:
        """The names of the arguments that leave papers out."""
        named = {
            "open_access": self.open_access,
            "pdf_only": self.pdf_only,
            "min_citations": self.least_citations,
            "author": self.author,
            "venue": self.venue,
            "year_from": self.year_from,
            "year_to": self.year_to,
            "source": self.source != "all",
        }
        return [name for name, value in named.items() if value]

    def admits(self, work: Work) -> bool:
        """Whether a paper is what is wanted, as far as that is known of it. `pdf_only` is judged in the end."""
        return (
            self._fits_years(work)
            and (not self.author or _has_author(work, self.author))
            and (not self.venue or _has_words(self.venue, work.venue))
            and (not self.open_access or bool(work.is_open))
            and (not self.least_citations or (work.citations or 0) >= self.least_citations)
            and self._fits_source(work)
        )

    def _fits_years(self, work: Work) -> bool:
        if not (self.year_from or self.year_to):
            return True
        return bool(work.year) and work.year >= self.year_from and (not self.year_to or work.year <= self.year_to)

    def _fits_source(self, work: Work) -> bool:
        if self.source == "arxiv":
            return bool(work.arxiv)
        if self.source == "pubmed":
            return bool(work.pmid)
        return work.doi.startswith(self.doi_prefix)


def _has_author(work: Work, author: str) -> bool:
    """Whether one of the authors has all the words of a name; an initial stands for what begins with it."""
    wanted = title_words(author)
    return any(_covers(title_words(name.full_name()), wanted) for name in work.authors)


def _covers(words: list[str], wanted: list[str]) -> bool:
    return all(
        any(word == one or (min(len(word), len(one)) == 1 and word[0] == one[0]) for word in words) for one in wanted
    )


def _has_words(wanted: str, text: str) -> bool:
    return set(title_words(wanted)) <= set(title_words(text))
