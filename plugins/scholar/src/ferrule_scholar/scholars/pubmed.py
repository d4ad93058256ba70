"""PubMed: what is in the literature of medicine, by the E-utilities of NCBI."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ferrule_research.library import Date, Name
from ferrule_scholar.asking.client import ScholarClient, mapping, text, texts, whole
from ferrule_scholar.asking.query import DATE, WorkQuery
from ferrule_scholar.asking.scholar import CITATIONS, RECORD, REFERENCES, SEARCH, Found
from ferrule_scholar.asking.service import Service
from ferrule_scholar.asking.xml_document import flatten
from ferrule_scholar.works.identifiers import DOI, PMCID, PMID, Identifier, normalise_doi
from ferrule_scholar.works.work import Work

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from xml.etree.ElementTree import Element

    from ferrule_research.library import Notice

_NAME = "pubmed"
TOOL = "ferrule-scholar"
"""Who asks, as the E-utilities want it."""

_FIRST_YEAR, _LAST_YEAR = 1000, 3000  # both ends of a range have to be named
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NOTICES: dict[str, tuple[bool, str]] = {
    "RetractionIn": (True, "retraction"),
    "ExpressionOfConcernIn": (False, "expression_of_concern"),
    "ErratumIn": (False, "correction"),
}
_OF_ITSELF = "article-journal"


class PubMed:
    """The E-utilities. A search takes two requests: for the numbers, and for the records, which hold abstracts."""

    name = _NAME
    abilities = frozenset((SEARCH, RECORD, CITATIONS, REFERENCES))
    service = Service(
        "PubMed",
        "https://eutils.ncbi.nlm.nih.gov/entrez/eutils",
        "FERRULE_PUBMED_ENDPOINT",
        "pubmed_endpoint",
        pace=((3, 1.0),),
        pace_with_key=((10, 1.0),),
        credential="ncbi_api_key",
        contact="email",
        kinds=(PMID, DOI, PMCID),
    )

    def search(self, query: WorkQuery, client: ScholarClient) -> Found:
        """By the words as PubMed maps them to its subjects, with the filters that it has."""
        order = "pub_date" if query.sort == DATE else "relevance"
        params = {"term": _term(query), "retmax": str(query.limit), "sort": order}
        if query.year_from or query.year_to:
            years = {"mindate": query.year_from or _FIRST_YEAR, "maxdate": query.year_to or _LAST_YEAR}
            params |= {"datetype": "pdat", **{name: str(year) for name, year in years.items()}}
        return _find(client, params)

    def record(self, identifier: Identifier, client: ScholarClient) -> Work | None:
        """One record, by its number or by a search for its DOI."""
        if identifier.kind == PMID:
            return next(iter(_fetch(client, [identifier.value])), None)
        field = "doi" if identifier.kind == DOI else "pmcid"
        works = _find(client, {"term": f'"{identifier.value}"[{field}]', "retmax": "2"}).works
        return next((one for one in works if identifier in one.identifiers), None)

    def citations(self, work: Work, limit: int, client: ScholarClient) -> Found:
        """The papers of PubMed Central that cite it."""
        return _list_linked(client, work.pmid, "pubmed_pubmed_citedin", limit)

    def references(self, work: Work, limit: int, client: ScholarClient) -> Found:
        """What it cites, as far as that is in PubMed."""
        return _list_linked(client, work.pmid, "pubmed_pubmed_refs", limit)


def _term(query: WorkQuery) -> str:
    term = query.text
    if query.author:
        term = f"({term}) AND {query.author}[Author]"
    if query.venue:
        term = f'({term}) AND "{query.venue.replace(chr(34), " ")}"[Journal]'
    if query.open_access or query.pdf_only:
        term = f"({term}) AND free full text[sb]"
    if query.full_text:
        term = f'({term}) AND "pubmed pmc"[sb]'
    return term


def _params(client: ScholarClient) -> dict[str, str]:
    return {"db": "pubmed", "tool": TOOL, **({"api_key": client.key} if client.key else {})}


def _find(client: ScholarClient, params: dict[str, str]) -> Found:
    document = mapping(client.get_json("/esearch.fcgi", {**_params(client), "retmode": "json", **params}))
    result = mapping(document.get("esearchresult"))
    reason = text(result.get("ERROR")) or text(document.get("error"))
    if reason:  # which comes with status 200, too
        raise client.refusal(reason)
    return Found(_fetch(client, texts(result["idlist"])), whole(result.get("count")))


def _list_linked(client: ScholarClient, pmid: str, name: str, limit: int) -> Found:
    params = {**_params(client), "dbfrom": "pubmed", "linkname": name, "id": pmid, "retmode": "json"}
    document = mapping(client.get_json("/elink.fcgi", params))
    groups = document["linksets"]
    bases = mapping(groups[0]).get("linksetdbs") if isinstance(groups, list) and groups else None
    first = mapping(bases[0]) if isinstance(bases, list) and bases else {}
    links = first.get("links")
    numbers = [str(one) for one in links if isinstance(one, int | str)] if isinstance(links, list) else []
    return Found(_fetch(client, numbers[:limit]), len(numbers))


def _fetch(client: ScholarClient, pmids: Sequence[str]) -> list[Work]:
    """The records of numbers, in their order."""
    if not pmids:
        return []
    root = client.get_xml("/efetch.fcgi", {**_params(client), "retmode": "xml", "id": ",".join(pmids)})
    if root is None:
        return []
    if root.tag != "PubmedArticleSet":
        raise ValueError("it is no set of articles")
    found = {work.pmid: work for work in map(_read, root.findall("PubmedArticle")) if work.title}
    return [found[one] for one in pmids if one in found]


def _read(record: Element) -> Work:
    citation, article = record.find("MedlineCitation"), record.find("MedlineCitation/Article")
    if citation is None or article is None:
        return Work("")
    ids = {one.get("IdType"): flatten(one) for one in record.findall("PubmedData/ArticleIdList/ArticleId")}
    date = _read_date(article)
    issue = article.find("Journal/JournalIssue")
    number = flatten(citation.find("PMID"))
    return Work(
        _unwrap(flatten(article.find("ArticleTitle")).rstrip(".")),
        tuple(filter(None, map(_author, article.findall("AuthorList/Author")))),
        date.year if date else 0,
        date.iso() if date else "",
        flatten(article.find("Journal/Title")),
        _OF_ITSELF,
        normalise_doi(ids.get("doi")),
        pmid=number,
        pmcid=ids.get("pmc") or "",
        native_id=number,
        url=f"https://pubmed.ncbi.nlm.nih.gov/{number}/",
        volume=flatten(issue.find("Volume")) if issue is not None else "",
        issue=flatten(issue.find("Issue")) if issue is not None else "",
        pages=flatten(article.find("Pagination/MedlinePgn")),
        abstract=" ".join(map(flatten, article.findall("Abstract/AbstractText"))),
        is_open=True if ids.get("pmc") else None,
        notice=_notice(citation),
        sources=(_NAME,),
    )


def _unwrap(title: str) -> str:
    """A title that is translated stands in one pair of brackets, which are no part of it; others stay."""
    is_wrapped = re.fullmatch(r"\[(?:[^\[\]]|\[[^\[\]]*\])*\]", title)
    return title[1:-1].rstrip(".") if is_wrapped else title


def _author(author: Element) -> Name | None:
    family = flatten(author.find("LastName"))
    if family:
        return Name(family, flatten(author.find("ForeName")), flatten(author.find("Suffix")))
    group = flatten(author.find("CollectiveName"))
    return Name(group, literal=True) if group else None


def _read_date(article: Element) -> Date | None:
    """When the issue appeared, else when the article did online."""
    for path in ("Journal/JournalIssue/PubDate", "ArticleDate"):
        place = article.find(path)
        if place is None:
            continue
        year = whole(flatten(place.find("Year"))) or whole(flatten(place.find("MedlineDate"))[:4])
        if year:
            month = _read_month(flatten(place.find("Month")))
            return Date(year, month, (whole(flatten(place.find("Day"))) or 0) if month else 0)
    return None


def _read_month(written: str) -> int:
    name = written[:3].lower()
    return _MONTHS.index(name) + 1 if name in _MONTHS else min(whole(written) or 0, 12)


def _notice(citation: Element) -> Notice | None:
    """The gravest of the notices that PubMed links to the article."""
    places: Mapping[str | None, Element] = {
        one.get("RefType"): one for one in citation.findall("CommentsCorrectionsList/CommentsCorrections")
    }
    for kind, (is_retracted, name) in _NOTICES.items():
        if kind in places:
            return {"retracted": is_retracted, "kind": name}
    return None
