"""Semantic Scholar: papers with what cites them, and how."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import quote

from ferrule_research.library import parse_person
from ferrule_scholar.asking.client import ScholarClient, mapping, objects, text, texts, whole
from ferrule_scholar.asking.scholar import CITATIONS, RECORD, REFERENCES, SEARCH, Found
from ferrule_scholar.asking.service import Service
from ferrule_scholar.works.identifiers import (
    ARXIV,
    DOI,
    PMCID,
    PMID,
    Identifier,
    arxiv_of_doi,
    normalise_arxiv,
    normalise_doi,
)
from ferrule_scholar.works.titles import plain_title
from ferrule_scholar.works.work import Work

if TYPE_CHECKING:
    from ferrule_research.library import Name
    from ferrule_scholar.asking.query import WorkQuery

_NAME = "semanticscholar"
_FIELDS = (
    "paperId,title,abstract,year,publicationDate,authors,externalIds,openAccessPdf,isOpenAccess,citationCount,tldr,"
    "venue,journal,publicationTypes,url"
)
_EDGE_FIELDS = "intents,isInfluential," + _FIELDS.replace(",tldr", "")  # which edges do not have
_PREFIXES = {DOI: "DOI", ARXIV: "ARXIV", PMID: "PMID", PMCID: "PMCID"}
_MAX_SEARCH, _MAX_EDGES = 100, 500
_KINDS = {"Book": "book", "BookSection": "chapter", "Conference": "paper-conference", "Dataset": "dataset"}


class SemanticScholar:
    """The Academic Graph. Without a key, all users of the world share one rate, and refusals are common."""

    name = _NAME
    abilities = frozenset((SEARCH, RECORD, CITATIONS, REFERENCES))
    service = Service(
        "Semantic Scholar",
        "https://api.semanticscholar.org/graph/v1",
        "FERRULE_SEMANTIC_SCHOLAR_ENDPOINT",
        "semantic_scholar_endpoint",
        pace=((1, 1.0),),
        credential="semantic_scholar_api_key",
        kinds=(DOI, ARXIV, PMID, PMCID),
    )

    def search(self, query: WorkQuery, client: ScholarClient) -> Found:
        """By relevance, with the filters that it has; it cannot sort by date."""
        words = " ".join(query.text.replace("-", " ").split())  # a hyphen makes it find nothing
        params = {"query": words, "limit": str(min(query.limit, _MAX_SEARCH)), "fields": _FIELDS}
        if query.year_from or query.year_to:
            params["year"] = f"{query.year_from or ''}-{query.year_to or ''}"
        if query.least_citations:
            params["minCitationCount"] = str(query.least_citations)
        if query.venue:
            params["venue"] = query.venue
        if query.pdf_only:
            params["openAccessPdf"] = ""
        document = mapping(_get(client, "/paper/search", params))
        works = [read_paper(one) for one in objects(document.get("data"))]
        return Found([one for one in works if one.title], whole(document["total"]))

    def record(self, identifier: Identifier, client: ScholarClient) -> Work | None:
        """One paper by an identifier."""
        named = f"{_PREFIXES[identifier.kind]}:{identifier.value}"
        document = _get(client, f"/paper/{quote(named, safe=':/')}", {"fields": _FIELDS})
        return None if document is None else read_paper(mapping(document))

    def citations(self, work: Work, limit: int, client: ScholarClient) -> Found:
        """What cites it, with the intents and the influence of each citation."""
        return _edges(client, work, "citations", "citingPaper", limit)

    def references(self, work: Work, limit: int, client: ScholarClient) -> Found:
        """What it cites, with the intents and the influence of each citation."""
        return _edges(client, work, "references", "citedPaper", limit)


def read_paper(record: Mapping[str, object]) -> Work:
    """A paper of Semantic Scholar."""
    ids, journal = mapping(record.get("externalIds")), mapping(record.get("journal"))
    doi, file = normalise_doi(ids.get("DOI")), mapping(record.get("openAccessPdf"))
    is_open = record.get("isOpenAccess")
    kinds = [_KINDS[one] for one in texts(record.get("publicationTypes")) if one in _KINDS]
    return Work(
        plain_title(record.get("title")),
        tuple(_authors(record)),
        whole(record.get("year")) or 0,
        text(record.get("publicationDate")),
        text(journal.get("name")) or text(record.get("venue")),
        kinds[0] if kinds else "article-journal",
        doi,
        normalise_arxiv(ids.get("ArXiv")) or arxiv_of_doi(doi),
        text(ids.get("PubMed")),
        f"PMC{text(ids.get('PubMedCentral'))}" if text(ids.get("PubMedCentral")) else "",
        native_id=text(record.get("paperId")),
        url=text(record.get("url")),
        volume=text(journal.get("volume")),
        pages=text(journal.get("pages")).replace(" ", ""),
        abstract=plain_title(record.get("abstract")),
        tldr=text(mapping(record.get("tldr")).get("text")),
        citations=whole(record.get("citationCount")),
        is_open=is_open if isinstance(is_open, bool) else None,
        pdf_url=text(file.get("url")),
        licence=text(file.get("license")),
        sources=(_NAME,),
    )


def _edges(client: ScholarClient, work: Work, path: str, name: str, limit: int) -> Found:
    """Works at the other end of citations. The service says how many there are in the record alone."""
    params = {"fields": _EDGE_FIELDS, "limit": str(min(limit, _MAX_EDGES))}
    document = mapping(_get(client, f"/paper/{quote(work.native_id)}/{path}", params))
    edges = objects(document["data"])
    works = [(read_paper(mapping(edge.get(name))), edge) for edge in edges]
    found = [
        paper._replace(intents=tuple(texts(edge.get("intents"))), is_influential=edge.get("isInfluential") is True)
        for paper, edge in works
        if paper.title
    ]
    return Found(found, work.citations if path == "citations" else None)


def _get(client: ScholarClient, path: str, params: dict[str, str]) -> object | None:
    return client.get_json(path, params, headers={"x-api-key": client.key} if client.key else None)


def _authors(record: Mapping[str, object]) -> list[Name]:
    return [parse_person(name) for one in objects(record.get("authors")) if (name := text(one.get("name")))]
