"""arXiv: preprints, by its Atom feed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule_research.library import parse_person
from ferrule_scholar.asking.client import ScholarClient, whole
from ferrule_scholar.asking.query import DATE, WorkQuery
from ferrule_scholar.asking.scholar import RECORD, SEARCH, Found
from ferrule_scholar.asking.service import Service
from ferrule_scholar.asking.xml_document import flatten
from ferrule_scholar.works.identifiers import ARXIV, Identifier, normalise_arxiv, normalise_doi
from ferrule_scholar.works.titles import title_words
from ferrule_scholar.works.work import Work

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_NAME = "arxiv"
_ATOM = "{http://www.w3.org/2005/Atom}"
_OWN = "{http://arxiv.org/schemas/atom}"
_SEARCH = "{http://a9.com/-/spec/opensearch/1.1/}"
_MAX_WORDS = 12  # of a query, since all of them have to be there
_SMALL_WORDS = frozenset(["a", "an", "and", "are", "by", "for", "in", "is", "of", "on", "or", "the", "to", "with"])
_FIRST_YEAR = 1991


class ArXiv:
    """The API of arXiv, which wants one request in three seconds from all machines of a user."""

    name = _NAME
    abilities = frozenset((SEARCH, RECORD))
    service = Service(
        "arXiv",
        "https://export.arxiv.org/api",
        "FERRULE_ARXIV_ENDPOINT",
        "arxiv_endpoint",
        pace=((1, 3.0),),
        kinds=(ARXIV,),
    )

    def search(self, query: WorkQuery, client: ScholarClient) -> Found:
        """All words of the query anywhere, with the filters that it has."""
        params = {
            "search_query": " AND ".join(_terms(query)),
            "max_results": str(query.limit),
            "sortBy": "submittedDate" if query.sort == DATE else "relevance",
            "sortOrder": "descending",
        }
        return _list(client, params)

    def record(self, identifier: Identifier, client: ScholarClient) -> Work | None:
        """The newest version of a paper."""
        works = _list(client, {"id_list": identifier.value, "max_results": "1"}).works
        return next(iter(works), None)

    def citations(self, work: Work, limit: int, client: ScholarClient) -> Found:
        """arXiv does not know them."""
        raise NotImplementedError

    def references(self, work: Work, limit: int, client: ScholarClient) -> Found:
        """arXiv does not know them."""
        raise NotImplementedError


def _terms(query: WorkQuery) -> list[str]:
    words = [word for word in title_words(query.text) if word not in _SMALL_WORDS] or title_words(query.text)
    terms = [f"all:{word}" for word in words[:_MAX_WORDS]]
    if query.author:
        terms.append(f'au:"{" ".join(title_words(query.author))}"')
    if query.venue:
        terms.append(f'jr:"{" ".join(title_words(query.venue))}"')
    if query.year_from or query.year_to:
        terms.append(f"submittedDate:[{query.year_from or _FIRST_YEAR}01010000 TO {query.year_to or 2999}12312359]")
    return terms


def _list(client: ScholarClient, params: dict[str, str]) -> Found:
    feed = client.get_xml("/query", params)
    if feed is None:
        return Found([])
    if feed.tag != f"{_ATOM}feed":
        raise ValueError("it is no feed of Atom")
    entries = feed.findall(f"{_ATOM}entry")
    if entries and flatten(entries[0].find(f"{_ATOM}title")) == "Error":
        raise client.refusal(flatten(entries[0].find(f"{_ATOM}summary")), kind="validation")
    works = [_read(entry) for entry in entries]
    return Found([one for one in works if one.title and one.arxiv], whole(flatten(feed.find(f"{_SEARCH}totalResults"))))


def _read(entry: Element) -> Work:
    number = normalise_arxiv(flatten(entry.find(f"{_ATOM}id")).partition("/abs/")[2])
    date = flatten(entry.find(f"{_ATOM}published"))[:10]
    names = [flatten(name) for name in entry.findall(f"{_ATOM}author/{_ATOM}name")]
    doi = normalise_doi(flatten(entry.find(f"{_OWN}doi")))
    return Work(
        flatten(entry.find(f"{_ATOM}title")),
        tuple(parse_person(name) for name in names if name),
        whole(date[:4]) or 0,
        date,
        flatten(entry.find(f"{_OWN}journal_ref")) or "arXiv",
        "article-journal" if doi else "article",
        doi,
        number,
        native_id=number,
        url=f"https://arxiv.org/abs/{number}",
        abstract=flatten(entry.find(f"{_ATOM}summary")),
        is_open=True,
        pdf_url=f"https://arxiv.org/pdf/{number}",
        sources=(_NAME,),
    )
