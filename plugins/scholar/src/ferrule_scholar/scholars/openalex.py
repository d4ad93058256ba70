"""OpenAlex: works of all fields, with what they cite and where they can be read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import quote

from ferrule_research.library import parse_person
from ferrule_scholar.asking.client import ScholarClient, mapping, objects, text, texts, whole
from ferrule_scholar.asking.query import DATE, WorkQuery
from ferrule_scholar.asking.scholar import CITATIONS, RECORD, REFERENCES, SEARCH, Found
from ferrule_scholar.asking.service import Service
from ferrule_scholar.works.identifiers import DOI, PMCID, PMID, Identifier, arxiv_of_doi, normalise_doi
from ferrule_scholar.works.titles import plain_title
from ferrule_scholar.works.work import Work

if TYPE_CHECKING:
    from ferrule_research.library import Name

_NAME = "openalex"
_FIELDS = (
    "id,doi,display_name,publication_year,publication_date,type,authorships,primary_location,best_oa_location,"
    "open_access,cited_by_count,abstract_inverted_index,is_retracted,ids,biblio"
)
_MAX_PER_PAGE = 100
_MAX_ABSTRACT_WORDS = 400
_KINDS = {
    "book": "book",
    "book-chapter": "chapter",
    "dataset": "dataset",
    "dissertation": "thesis",
    "preprint": "article",
    "report": "report",
}
_SEARCH_SIGNS = str.maketrans(dict.fromkeys('"*?~()[]{}|,:!&', " "))  # which the search takes for operators


class OpenAlex:
    """The service of OpenAlex, as its documentation describes it since February 2026."""

    name = _NAME
    abilities = frozenset((SEARCH, RECORD, CITATIONS, REFERENCES))
    service = Service(
        "OpenAlex",
        "https://api.openalex.org",
        "FERRULE_OPENALEX_ENDPOINT",
        "openalex_endpoint",
        pace=((10, 1.0),),
        credential="openalex_api_key",
        kinds=(DOI, PMID, PMCID),
    )

    def search(self, query: WorkQuery, client: ScholarClient) -> Found:
        """By its search, with the filters that it has."""
        words = " ".join(query.text.translate(_SEARCH_SIGNS).split())
        params = {"search": words, "per_page": str(min(query.limit, _MAX_PER_PAGE))}
        if filters := ",".join(_filters(query)):
            params["filter"] = filters
        if query.sort == DATE:
            params["sort"] = "publication_date:desc"
        return _list(client, params)

    def record(self, identifier: Identifier, client: ScholarClient) -> Work | None:
        """One record, which costs nothing."""
        document = client.get_json(f"/works/{identifier.kind}:{quote(identifier.value)}", _params(client, select=False))
        return read_work(mapping(document)) if document is not None else None

    def citations(self, work: Work, limit: int, client: ScholarClient) -> Found:
        """What cites it, the most cited first."""
        params = {"filter": f"cites:{work.native_id}", "sort": "cited_by_count:desc"}
        return _list(client, {**params, "per_page": str(min(limit, _MAX_PER_PAGE))})

    def references(self, work: Work, limit: int, client: ScholarClient) -> Found:
        """What it cites, in the order of OpenAlex's list."""
        document = mapping(
            client.get_json(f"/works/{quote(work.native_id)}", {**_params(client), "select": "referenced_works"})
        )
        cited = [one.rpartition("/")[2] for one in texts(document.get("referenced_works"))]
        wanted = cited[: min(limit, _MAX_PER_PAGE)]
        if not wanted:
            return Found([], 0)
        found = _list(client, {"filter": f"openalex_id:{'|'.join(wanted)}", "per_page": str(len(wanted))})
        works = {one.native_id: one for one in found.works}
        return Found([works[one] for one in wanted if one in works], len(cited))


def read_work(record: Mapping[str, object]) -> Work:
    """A work of OpenAlex."""
    doi = normalise_doi(record.get("doi"))
    place, ids = mapping(record.get("primary_location")), mapping(record.get("ids"))
    best, access = mapping(record.get("best_oa_location")), mapping(record.get("open_access"))
    source, biblio = mapping(place.get("source")), mapping(record.get("biblio"))
    is_open = access.get("is_oa")
    pages = [text(biblio.get("first_page")), text(biblio.get("last_page"))]
    return Work(
        plain_title(record.get("display_name")),
        tuple(_authors(record)),
        whole(record.get("publication_year")) or 0,
        text(record.get("publication_date")),
        plain_title(source.get("display_name")),
        _KINDS.get(text(record.get("type")), "article-journal"),
        doi,
        arxiv_of_doi(doi),
        text(ids.get("pmid")).rstrip("/").rpartition("/")[2],
        _read_pmcid(ids.get("pmcid")),
        native_id=text(record.get("id")).rpartition("/")[2],
        url=text(place.get("landing_page_url")) or text(record.get("id")),
        volume=text(biblio.get("volume")),
        issue=text(biblio.get("issue")),
        pages="-".join(dict.fromkeys(filter(None, pages))),
        abstract=_abstract(record.get("abstract_inverted_index")),
        citations=whole(record.get("cited_by_count")),
        is_open=is_open if isinstance(is_open, bool) else None,
        pdf_url=text(best.get("pdf_url")),
        licence=text(best.get("license")),
        is_in_doaj=source.get("is_in_doaj") is True,
        notice={"retracted": True, "kind": "retraction"} if record.get("is_retracted") is True else None,
        sources=(_NAME,),
    )


def _read_pmcid(address: object) -> str:
    """The id of PubMed Central in an address, which has it with or without its letters."""
    number = text(address).rstrip("/").rpartition("/")[2].upper()
    return f"PMC{number}" if number.isdigit() else number


def _params(client: ScholarClient, *, select: bool = True) -> dict[str, str]:
    """What every request has."""
    return {**({"select": _FIELDS} if select else {}), **({"api_key": client.key} if client.key else {})}


def _list(client: ScholarClient, params: dict[str, str]) -> Found:
    document = mapping(client.get_json("/works", {**_params(client), **params}))
    if "results" not in document:
        raise LookupError("results")
    works = [read_work(one) for one in objects(document["results"])]
    return Found([one for one in works if one.title], whole(mapping(document.get("meta")).get("count")))


def _filters(query: WorkQuery) -> list[str]:
    """The filters of its search; it has none for names, of authors or of venues."""
    found = []
    if query.year_from:
        found.append(f"from_publication_date:{query.year_from}-01-01")
    if query.year_to:
        found.append(f"to_publication_date:{query.year_to}-12-31")
    if query.open_access or query.pdf_only:
        found.append("open_access.is_oa:true")
    if query.least_citations:
        found.append(f"cited_by_count:>{query.least_citations - 1}")
    if query.author:
        found.append(f"raw_author_name.search:{' '.join(query.author.translate(_SEARCH_SIGNS).split())}")
    if query.doi_prefix:
        found.append(f"doi_starts_with:{query.doi_prefix.rstrip('/')}")
    if query.source == "pubmed":
        found.append("has_pmid:true")
    return found


def _authors(record: Mapping[str, object]) -> list[Name]:
    names = (text(mapping(one.get("author")).get("display_name")) for one in objects(record.get("authorships")))
    return [parse_person(name) for name in names if name]


def _abstract(index: object) -> str:
    """The text whose words are given with their places."""
    places: dict[int, str] = {}
    for word, found in mapping(index).items():
        places |= {place: word for place in found if isinstance(place, int)} if isinstance(found, list) else {}
    return " ".join(places[place] for place in sorted(places)[:_MAX_ABSTRACT_WORDS])
