"""Europe PMC: the literature of the life sciences, with preprints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import quote

from ferrule_research.library import Name, parse_person
from ferrule_scholar.asking.client import ScholarClient, mapping, objects, text, whole
from ferrule_scholar.asking.query import DATE, WorkQuery
from ferrule_scholar.asking.scholar import CITATIONS, RECORD, REFERENCES, SEARCH, Found
from ferrule_scholar.asking.service import Service
from ferrule_scholar.works.identifiers import DOI, PMCID, PMID, Identifier, normalise_doi
from ferrule_scholar.works.titles import plain_title
from ferrule_scholar.works.work import Work

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAME = "europepmc"
_MAX_PER_PAGE = 1000
_FIELDS = {DOI: "DOI", PMID: "EXT_ID", PMCID: "PMCID"}
_FIRST_YEAR, _LAST_YEAR = 1000, 2999
_PDF = "pdf"


class EuropePMC:
    """The RESTful service of Europe PMC, which wants no key and names no limit; users hold ten requests a second."""

    name = _NAME
    abilities = frozenset((SEARCH, RECORD, CITATIONS, REFERENCES))
    service = Service(
        "Europe PMC",
        "https://www.ebi.ac.uk/europepmc/webservices/rest",
        "FERRULE_EUROPE_PMC_ENDPOINT",
        "europe_pmc_endpoint",
        pace=((10, 1.0),),
        contact="email",
        kinds=(DOI, PMID, PMCID),
    )

    def search(self, query: WorkQuery, client: ScholarClient) -> Found:
        """By its language of queries, with all filters but that of publishers."""
        params = {"query": _terms(query), "pageSize": str(min(query.limit, _MAX_PER_PAGE))}
        if query.sort == DATE:
            params["sort"] = "P_PDATE_D desc"
        return _find(client, params)

    def record(self, identifier: Identifier, client: ScholarClient) -> Work | None:
        """One record by an identifier."""
        term = f'{_FIELDS[identifier.kind]}:"{identifier.value}"'
        if identifier.kind == PMID:
            term += " AND SRC:MED"
        works = _find(client, {"query": term, "pageSize": "5"}).works
        return next((one for one in works if identifier in one.identifiers), None)

    def citations(self, work: Work, limit: int, client: ScholarClient) -> Found:
        """What cites it, as far as that is in Europe PMC."""
        return _list_linked(client, work, "citations", "citation", limit)

    def references(self, work: Work, limit: int, client: ScholarClient) -> Found:
        """What it cites, also what is not in Europe PMC."""
        return _list_linked(client, work, "references", "reference", limit)


def _terms(query: WorkQuery) -> str:
    terms = [f"({query.text})" if query.filters else query.text]
    if query.author:
        terms.append(f'AUTH:"{_bare(query.author)}"')
    if query.venue:
        terms.append(f'JOURNAL:"{_bare(query.venue)}"')
    if query.year_from or query.year_to:
        terms.append(f"PUB_YEAR:[{query.year_from or _FIRST_YEAR} TO {query.year_to or _LAST_YEAR}]")
    if query.open_access or query.pdf_only:
        terms.append("OPEN_ACCESS:y")
    if query.least_citations:
        terms.append(f"CITED:[{query.least_citations} TO 10000000]")
    return " AND ".join(terms)


def _bare(words: str) -> str:
    return " ".join(words.replace('"', " ").split())


def _find(client: ScholarClient, params: dict[str, str]) -> Found:
    document = mapping(client.get_json("/search", {"format": "json", "resultType": "core", **params}))
    works = [read_result(one) for one in objects(mapping(document["resultList"]).get("result"))]
    return Found([one for one in works if one.title], whole(document.get("hitCount")))


def _list_linked(client: ScholarClient, work: Work, path: str, name: str, limit: int) -> Found:
    """native_id is `SOURCE/NUMBER`."""
    params = {"format": "json", "page": "1", "pageSize": str(min(limit, _MAX_PER_PAGE))}
    document = mapping(client.get_json(f"/{quote(work.native_id)}/{path}", params))
    works = [read_result(one) for one in objects(mapping(document[f"{name}List"]).get(name))]
    return Found([one for one in works if one.title], whole(document.get("hitCount")))


def read_result(record: Mapping[str, object]) -> Work:
    """A result of a search, a citation or a reference: these have names of their own for some fields."""
    info = mapping(record.get("journalInfo"))
    source, number = text(record.get("source")), text(record.get("id"))
    pmid = text(record.get("pmid")) or (number if source == "MED" else "")
    venue = text(mapping(info.get("journal")).get("title")) or text(record.get("journalTitle"))
    places = objects(mapping(record.get("fullTextUrlList")).get("fullTextUrl"))
    venue = venue or text(record.get("journalAbbreviation"))
    is_open = record.get("isOpenAccess")
    return Work(
        plain_title(record.get("title")).rstrip("."),
        tuple(_authors(record)),
        whole(record.get("pubYear")) or 0,
        text(record.get("firstPublicationDate")),
        venue,
        "article" if source == "PPR" else "article-journal",
        normalise_doi(record.get("doi")),
        pmid=pmid,
        pmcid=text(record.get("pmcid")),
        native_id=f"{source}/{number}",
        url=f"https://europepmc.org/article/{source}/{number}",
        volume=text(info.get("volume")) or text(record.get("volume")),
        issue=text(info.get("issue")) or text(record.get("issue")),
        pages=text(record.get("pageInfo")),
        abstract=plain_title(record.get("abstractText")),
        citations=whole(record.get("citedByCount")),
        is_open=is_open == "Y" if is_open in ("Y", "N") else None,
        pdf_url=next((text(one.get("url")) for one in places if _is_free_file(one)), ""),
        licence=text(record.get("license")),
        sources=(_NAME,),
    )


def _is_free_file(place: Mapping[str, object]) -> bool:
    return place.get("documentStyle") == _PDF and place.get("availabilityCode") in ("OA", "F")


def _authors(record: Mapping[str, object]) -> Iterator[Name]:
    """By the list if there is one, else by the text `Lee A, Ek B.`, in which initials stand last."""
    listed = objects(mapping(record.get("authorList")).get("author"))
    for one in listed:
        if family := text(one.get("lastName")):
            yield Name(family, text(one.get("firstName")) or text(one.get("initials")))
        elif group := text(one.get("collectiveName")) or text(one.get("fullName")):
            yield Name(group, literal=True)
    for written in [] if listed else text(record.get("authorString")).rstrip(".").split(","):
        family, _, initials = written.strip().rpartition(" ")
        if family and initials.isupper():
            yield Name(family, " ".join(initials))
        elif written.strip():
            yield parse_person(written)
