"""doi.org: the registry of all DOIs, which hands a question for metadata on to the agency that has the record."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import takewhile
from typing import TYPE_CHECKING
from urllib.parse import quote

from ferrule_research.library import Date, Name
from ferrule_scholar.asking.client import ScholarClient, mapping, objects, text, texts, whole
from ferrule_scholar.asking.scholar import RECORD, Found
from ferrule_scholar.asking.service import Service
from ferrule_scholar.scholars.crossref import KINDS
from ferrule_scholar.works.identifiers import DOI, Identifier, arxiv_of_doi, normalise_doi
from ferrule_scholar.works.titles import plain_title
from ferrule_scholar.works.work import Work

if TYPE_CHECKING:
    from ferrule_scholar.asking.query import WorkQuery

_NAME = "doi"
_CSL = "application/vnd.citationstyles.csl+json"
REGISTRY = Service(
    "doi.org",
    "https://doi.org",
    "FERRULE_DOI_ENDPOINT",
    "doi_endpoint",
    pace=((10, 1.0),),
    kinds=(DOI,),
    hands_on=("api.crossref.org", "api.datacite.org", "data.crosscite.org"),
)
"""Where the registry is, and the agencies: Crossref, DataCite, and the service that they share."""


class Registry:
    """The record of a DOI whatever its agency, as an item of CSL-JSON. It is no service to search in."""

    name = _NAME
    abilities = frozenset((RECORD,))
    service = REGISTRY

    def search(self, query: WorkQuery, client: ScholarClient) -> Found:
        """The registry has no search."""
        raise NotImplementedError

    def record(self, identifier: Identifier, client: ScholarClient) -> Work | None:
        """The record of a DOI; None where it is not registered, or its agency gives no metadata."""
        item = client.get_json(f"/{quote(identifier.value, safe='/')}", headers={"Accept": _CSL})
        return None if item is None else _read_item(mapping(item), identifier.value)

    def citations(self, work: Work, limit: int, client: ScholarClient) -> Found:
        """The registry does not know them."""
        raise NotImplementedError

    def references(self, work: Work, limit: int, client: ScholarClient) -> Found:
        """The registry does not know them."""
        raise NotImplementedError


def _read_item(item: Mapping[str, object], asked: str) -> Work | None:
    """A work of CSL-JSON; None for that of another DOI, and without a title."""
    doi, title = normalise_doi(item.get("DOI")) or asked, _read_text(item.get("title"))
    if doi != asked or not title:
        return None
    date = _read_date(item.get("issued"))
    kind = text(item.get("type"))
    return Work(
        title,
        tuple(_list_authors(item)),
        date.year if date else 0,
        date.iso() if date else "",
        _read_text(item.get("container-title")),
        KINDS.get(kind, kind if kind in KINDS.values() else "document"),
        doi,
        arxiv_of_doi(doi),
        native_id=doi,
        volume=text(item.get("volume")),
        issue=text(item.get("issue")),
        pages=text(item.get("page")),
        publisher=_read_text(item.get("publisher")),
        sources=(_NAME,),
    )


def _read_text(value: object) -> str:
    """A text of CSL-JSON, which one agency puts into a list."""
    return plain_title(next(iter(texts(value)), "") if isinstance(value, list) else value)


def _list_authors(item: Mapping[str, object]) -> list[Name]:
    found = []
    for one in objects(item.get("author")):
        family, given = plain_title(one.get("family")), plain_title(one.get("given"))
        if family:
            found.append(Name(family, given, text(one.get("suffix"))))
        elif organisation := plain_title(one.get("literal") or one.get("name")):
            found.append(Name(organisation, literal=True))
    return found


def _read_date(value: object) -> Date | None:
    groups = mapping(value).get("date-parts")
    parts = groups[0] if isinstance(groups, list) and groups and isinstance(groups[0], list) else []
    numbers = list(takewhile(bool, (whole(part) or 0 for part in parts[:3])))  # a day without a month is none
    return Date(*numbers) if numbers else None
