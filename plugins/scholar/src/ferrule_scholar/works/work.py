"""The record of a paper, as one service has it or as several have it together."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ferrule_scholar.works.identifiers import ARXIV, DOI, PMCID, PMID, Identifier

if TYPE_CHECKING:
    from ferrule import JSONObject
    from ferrule_research.library import Name, Notice

_ABSTRACT_CHARS = 500
_MAX_AUTHORS = 30  # that an answer names


class Work(NamedTuple):
    """A paper. What is not known is empty, 0 or None.

    Args:
        date: ISO 8601, as far as it is known. venue: the journal, conference or server. kind: a type of CSL.
        doi, arxiv, pmid, pmcid: normalised identifiers. native_id: of the service that the record comes from.
        citations: how many works cite it. is_open: whether it can be read for free. pdf_url: a file, and no page.
        intents, is_influential: of the citation by which it was found. notice: the gravest about it.
        sources: the names of the services that have it.
    """

    title: str
    authors: tuple[Name, ...] = ()
    year: int = 0
    date: str = ""
    venue: str = ""
    kind: str = "article-journal"
    doi: str = ""
    arxiv: str = ""
    pmid: str = ""
    pmcid: str = ""
    native_id: str = ""
    url: str = ""
    volume: str = ""
    issue: str = ""
    pages: str = ""
    publisher: str = ""
    abstract: str = ""
    tldr: str = ""
    citations: int | None = None
    is_open: bool | None = None
    pdf_url: str = ""
    licence: str = ""
    is_in_doaj: bool = False
    intents: tuple[str, ...] = ()
    is_influential: bool | None = None
    notice: Notice | None = None
    sources: tuple[str, ...] = ()

    @property
    def identifiers(self) -> tuple[Identifier, ...]:
        """The identifiers that it has, the most lasting first."""
        pairs = ((DOI, self.doi), (ARXIV, self.arxiv), (PMID, self.pmid), (PMCID, self.pmcid))
        return tuple(Identifier(kind, value) for kind, value in pairs if value)

    @property
    def address(self) -> str:
        """Where a reader finds it: its DOI's address, else arXiv's, else PubMed's, else what the service says."""
        if self.doi:
            return f"https://doi.org/{self.doi}"
        if self.arxiv:
            return f"https://arxiv.org/abs/{self.arxiv}"
        return f"https://pubmed.ncbi.nlm.nih.gov/{self.pmid}/" if self.pmid else self.url

    def as_json(self) -> JSONObject:
        """A paper of an answer: `title`, `url`, `source`, `sources`, and what else is known."""
        known: JSONObject = {
            "title": self.title,
            "url": self.address,
            "source": self.sources[0] if self.sources else "",
            "sources": list(self.sources),
        }
        known |= {name: value for name, value in self._texts().items() if value}
        names = [name.full_name() for name in self.authors]
        if names:
            known["authors"] = names[:_MAX_AUTHORS]
        if len(names) > _MAX_AUTHORS:
            known["authorCount"] = len(names)
        return known | self._facts()

    def _texts(self) -> dict[str, str]:
        return {
            "doi": self.doi,
            "arxivId": self.arxiv,
            "pmid": self.pmid,
            "pmcid": self.pmcid,
            "journal": self.venue,
            "date": self.date,
            "abstract": _shorten(self.abstract),
            "tldr": self.tldr,
            "pdfUrl": self.pdf_url,
            "license": self.licence,
        }

    def _facts(self) -> JSONObject:
        facts: JSONObject = {}
        if self.year:
            facts["year"] = self.year
        if self.citations:
            facts["citationCount"] = self.citations
        if self.is_open:
            facts["openAccess"] = True
        if self.is_in_doaj:
            facts["isInDoaj"] = True
        if self.intents:
            facts["citationIntents"] = list(self.intents)
        if self.is_influential is not None:
            facts["isInfluential"] = self.is_influential
        if self.notice is not None:
            facts["retractionStatus"] = dict(self.notice)
        return facts


def _shorten(text: str) -> str:
    """At most 500 characters, cut between words."""
    if len(text) <= _ABSTRACT_CHARS:
        return text
    return text[: _ABSTRACT_CHARS - 1].rsplit(" ", 1)[0].rstrip(" ,;:.") + "…"
