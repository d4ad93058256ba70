"""Crossref: what publishers deposit of the works that have its DOIs, with retractions that Retraction Watch gathers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING
from urllib.parse import quote

from ferrule_research.library import Date, Name, gravest_notice
from ferrule_scholar.asking.client import ScholarClient, mapping, objects, text, texts, whole
from ferrule_scholar.asking.query import DATE, WorkQuery
from ferrule_scholar.asking.scholar import RECORD, REFERENCES, SEARCH, Found
from ferrule_scholar.asking.service import Service
from ferrule_scholar.works.identifiers import DOI, Identifier, arxiv_of_doi, normalise_doi
from ferrule_scholar.works.titles import plain_title
from ferrule_scholar.works.work import Work

if TYPE_CHECKING:
    from ferrule import JSONObject

NAME = "crossref"
_FIELDS = (
    "DOI,title,subtitle,author,container-title,issued,published,type,URL,is-referenced-by-count,abstract,license,"
    "volume,issue,page,publisher,updated-by,update-to,link"
)
_MAX_ROWS = 100
_MAX_DOIS = 40  # of one filter, which keeps the URL short
KINDS = {
    "journal-article": "article-journal",
    "proceedings-article": "paper-conference",
    "book-chapter": "chapter",
    "book": "book",
    "monograph": "book",
    "edited-book": "book",
    "reference-book": "book",
    "dissertation": "thesis",
    "report": "report",
    "dataset": "dataset",
    "posted-content": "article",
}
"""The types of Crossref, and those of CSL that they are."""


class Crossref:
    """The REST API of Crossref. With a contact, requests go to the pool of those that have one."""

    name = NAME
    abilities = frozenset((SEARCH, RECORD, REFERENCES))
    service = Service(
        "Crossref",
        "https://api.crossref.org",
        "FERRULE_CROSSREF_ENDPOINT",
        "crossref_endpoint",
        pace=((1, 1.0),),
        pace_with_contact=((3, 1.0),),
        contact="mailto",
        kinds=(DOI,),
    )

    def search(self, query: WorkQuery, client: ScholarClient) -> Found:
        """By all words of a reference, with the filters that it has."""
        params = {"query.bibliographic": query.text, "rows": str(min(query.limit, _MAX_ROWS)), "select": _FIELDS}
        if query.author:
            params["query.author"] = query.author
        if query.venue:
            params["query.container-title"] = query.venue
        if filters := ",".join(_filters(query)):
            params["filter"] = filters
        if query.sort == DATE:
            params |= {"sort": "published", "order": "desc"}
        return _list(client, params)

    def record(self, identifier: Identifier, client: ScholarClient) -> Work | None:
        """The record of a DOI; None for a DOI of another registry."""
        document = client.get_json(f"/works/{quote(identifier.value, safe='/')}")
        return None if document is None else read_work(mapping(mapping(document)["message"]))

    def citations(self, work: Work, limit: int, client: ScholarClient) -> Found:
        """Crossref tells how often a work is cited, and not by which."""
        raise NotImplementedError

    def references(self, work: Work, limit: int, client: ScholarClient) -> Found:
        """The references that the publisher deposited: those with a DOI as they are, others by their words."""
        document = mapping(client.get_json(f"/works/{quote(work.doi, safe='/')}"))
        deposited = objects(mapping(document.get("message")).get("reference"))
        return Found([one for one in map(_read_reference, deposited[:limit]) if one.title or one.doi], len(deposited))

    def find_many(self, dois: Sequence[str], client: ScholarClient) -> list[Work]:
        """The records of several DOIs, by one request for 40 of them each; unknown ones are left out."""
        found: list[Work] = []
        named = [doi for doi in dois if "," not in doi]  # which no filter can have; without any, all works would come
        for start in range(0, len(named), _MAX_DOIS):
            filters = ",".join(f"doi:{doi}" for doi in named[start : start + _MAX_DOIS])
            found += _list(client, {"filter": filters, "rows": str(_MAX_DOIS), "select": _FIELDS}).works
        return found


def read_work(record: JSONObject | Mapping[str, object]) -> Work:
    """A work of Crossref."""
    doi = normalise_doi(record.get("DOI"))
    title = ": ".join(filter(None, (plain_title(_first(record, name)) for name in ("title", "subtitle"))))
    date = _read_date(record)
    return Work(
        title,
        tuple(_authors(record)),
        date.year if date else 0,
        date.iso() if date else "",
        plain_title(_first(record, "container-title")),
        KINDS.get(text(record.get("type")), "document"),
        doi,
        arxiv_of_doi(doi),
        native_id=doi,
        url=text(record.get("URL")),
        volume=text(record.get("volume")),
        issue=text(record.get("issue")),
        pages=text(record.get("page")),
        publisher=plain_title(record.get("publisher")),
        abstract=plain_title(record.get("abstract")),
        citations=whole(record.get("is-referenced-by-count")),
        licence=next((text(one.get("URL")) for one in objects(record.get("license"))), ""),
        notice=gravest_notice(dict(record), doi),
        sources=(NAME,),
    )


def _list(client: ScholarClient, params: dict[str, str]) -> Found:
    message = mapping(mapping(client.get_json("/works", params))["message"])
    works = [read_work(one) for one in objects(message["items"])]
    return Found([one for one in works if one.title and one.doi], whole(message.get("total-results")))


def _filters(query: WorkQuery) -> list[str]:
    found = []
    if query.year_from:
        found.append(f"from-pub-date:{query.year_from}")
    if query.year_to:
        found.append(f"until-pub-date:{query.year_to}")
    if query.doi_prefix:
        found.append(f"prefix:{query.doi_prefix.rstrip('/')}")
    return found


def _authors(record: Mapping[str, object]) -> list[Name]:
    found = []
    for one in objects(record.get("author")):
        family, given = plain_title(one.get("family")), plain_title(one.get("given"))
        if family:
            found.append(Name(family, given, text(one.get("suffix"))))
        elif organisation := plain_title(one.get("name")):
            found.append(Name(organisation, literal=True))
    return found


def _first(record: Mapping[str, object], name: str) -> str:
    return next(iter(texts(record.get(name))), "")


def _read_date(record: Mapping[str, object]) -> Date | None:
    """When it appeared first, as far as that is known."""
    for name in ("issued", "published"):
        groups = mapping(record.get(name)).get("date-parts")
        parts = groups[0] if isinstance(groups, list) and groups and isinstance(groups[0], list) else []
        numbers = [part for part in parts if isinstance(part, int)]
        if numbers:
            return Date(*numbers[:3])
    return None


def _read_reference(record: Mapping[str, object]) -> Work:
    doi = normalise_doi(record.get("DOI"))
    title = plain_title(record.get("article-title")) or plain_title(record.get("volume-title"))
    author = plain_title(record.get("author"))
    return Work(
        title or plain_title(record.get("unstructured")),
        (Name(author),) if author else (),
        whole(record.get("year")) or 0,
        venue=plain_title(record.get("journal-title")),
        doi=doi,
        arxiv=arxiv_of_doi(doi),
        volume=text(record.get("volume")),
        pages=text(record.get("first-page")),
        sources=(NAME,),
    )
