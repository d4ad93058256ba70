"""Who wrote a page, what it is called, where and when it appeared: from the best of what it says of itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from ferrule_research.hosts import host_of
from ferrule_research.page.metadata.authors import MAX_AUTHORS, Name, parse_authors, parse_organisation, parse_person
from ferrule_research.page.metadata.dates import Date, read_date
from ferrule_research.page.metadata.embedded import EmbeddedData, cut, nodes_of, types_of

if TYPE_CHECKING:
    from ferrule import JSONObject

MAX_AUTHORS_BYTES = 4 << 10
MAX_FIELD_BYTES = 1 << 10
MAX_PLACE_BYTES = 1 << 8

_ARTICLES = frozenset(
    (
        *("Article", "AdvertiserContentArticle", "AnalysisNewsArticle", "APIReference"),
        *("BackgroundNewsArticle", "BlogPosting", "Book", "Chapter", "Dataset", "DiscussionForumPosting"),
        *("LiveBlogPosting", "MedicalScholarlyArticle", "MedicalWebPage", "NewsArticle", "OpinionNewsArticle"),
        *("Question", "Report", "ReportageNewsArticle", "ReviewNewsArticle", "ScholarlyArticle"),
        *("SocialMediaPosting", "SoftwareSourceCode", "TechArticle", "Thesis", "VideoObject"),
    )
)
_PAGES = frozenset(["WebPage", "ItemPage", "AboutPage", "FAQPage", "QAPage"])
_ORGANISATIONS = frozenset(
    [f"{kind}Organization" for kind in ("", "NewsMedia", "Government", "Educational")] + ["Corporation"]
)
_AUTHORS = ("author", "dc.creator", "dcterms.creator", "parsely-author", "sailthru.author", "byl")
_DATES = (
    *("date", "dc.date", "dcterms.date", "dcterms.created", "pubdate", "publishdate", "parsely-pub-date"),
    "datepublished",
)
_SITES = ("application-name", "dc.publisher", "dcterms.publisher")


# Names of Highwire's tags that a citation is made of.
CITED = frozenset(
    f"citation_{name}"
    for name in (
        *("title", "author", "journal_title", "conference_title", "publisher", "publication_date", "date"),
        *("online_date", "year", "volume", "issue", "firstpage", "lastpage", "doi"),
    )
)
_PLACES = ("volume", "issue", "firstpage", "lastpage", "doi", "publisher")
_JOURNAL_LEVELS = 3  # of what an article is part of: an issue of a volume of a journal


class Place(NamedTuple):
    """Where in a journal a work stands, each part empty where it is not known. first, last: pages."""

    volume: str = ""
    issue: str = ""
    first: str = ""
    last: str = ""
    doi: str = ""
    publisher: str = ""


class Bibliography(NamedTuple):
    """What a citation is made of. site: the name of the site or the journal. types: names of Schema.org's.

    journal: its name, where the work stands in one, at that place.
    """

    title: str
    authors: list[Name]
    site: str
    date: Date | None
    types: frozenset[str] = frozenset()
    journal: str = ""
    place: Place = Place()

    def bounded(self) -> Bibliography:
        """The same, as far as an answer has room, in which each of them comes several times."""
        authors, room = [], MAX_AUTHORS_BYTES
        for name in self.authors:
            room -= len(name.full_name().encode()) + len("; ")
            if room < 0:
                break
            authors.append(name)
        title, site, journal = (cut(text, MAX_FIELD_BYTES) for text in (self.title, self.site, self.journal))
        place = Place(*(cut(part, MAX_PLACE_BYTES) for part in self.place))
        return self._replace(title=title, authors=authors, site=site, journal=journal, place=place)

    @property
    def author(self) -> str:
        """The authors as one text, as they are spoken."""
        return "; ".join(name.full_name() for name in self.authors)


def read_bibliography(embedded: EmbeddedData, url: str, title: str = "") -> Bibliography:
    """Highwire's tags before JSON-LD, before OpenGraph, before the title and the host. title: of the document."""
    article = _article(embedded.json_ld)
    graph, highwire, others = embedded.open_graph, embedded.highwire, embedded.others
    periodical, place = _find_journal(article)
    name = _first(highwire, "citation_journal_title", "citation_conference_title", "citation_publisher") or periodical
    site = name or graph.get("og:site_name") or _name_in(article.get("publisher")) or _first(others, *_SITES)
    heading = highwire.get("citation_title") or _text(article.get("headline") or article.get("name"))
    return Bibliography(
        heading or graph.get("og:title", "") or title,
        _authors(embedded, article),
        site or host_of(url).removeprefix("www."),
        _date(embedded, article),
        frozenset(name for node in nodes_of(embedded.json_ld) for name in types_of(node)),
        highwire.get("citation_journal_title", "") or periodical,
        Place(*(_first(highwire, f"citation_{tag}") or other for tag, other in zip(_PLACES, place, strict=True))),
    )


def _find_journal(article: JSONObject) -> tuple[str, Place]:
    """The name of the journal that an article of JSON-LD is part of, and its place there."""
    first, _, last = _text(article.get("pagination")).replace("–", "-").partition("-")
    place = Place(first=_text(article.get("pageStart")) or first, last=_text(article.get("pageEnd")) or last)
    name, part = "", article.get("isPartOf")
    for _ in range(_JOURNAL_LEVELS):
        if isinstance(part, list) and part:
            part = part[0]
        if not isinstance(part, dict):
            break
        if "Periodical" in types_of(part):
            name = name or _text(part.get("name"))
        volume, issue = _read_number(part.get("volumeNumber")), _read_number(part.get("issueNumber"))
        place = place._replace(volume=place.volume or volume, issue=place.issue or issue)
        part = part.get("isPartOf")
    return (name, place) if name else ("", Place())


def _read_number(value: object) -> str:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else _text(value)


def _article(json_ld: list[object]) -> JSONObject:
    """The object that describes what is on the page, rather than the site around it."""
    nodes = list(nodes_of(json_ld))
    for wanted in (_ARTICLES, _PAGES):
        for node in nodes:
            if wanted.intersection(types_of(node)):
                return {**node, "author": _resolve(node.get("author"), nodes)}
    return {}


def _resolve(author: object, nodes: list[JSONObject]) -> object:
    """The objects that an author's `@id` refers to."""
    if isinstance(author, list):
        return [_resolve(one, nodes) for one in author[:MAX_AUTHORS]]
    if isinstance(author, dict) and "@id" in author and "name" not in author:
        return next((node for node in nodes if node.get("@id") == author["@id"]), author)
    return author


def _authors(embedded: EmbeddedData, article: JSONObject) -> list[Name]:
    written = embedded.highwire.get("citation_author", "")
    if written:
        return [parse_person(one) for one in written.split(";") if one.strip()][:MAX_AUTHORS]
    if found := list(_authors_in(article.get("author") or article.get("creator"))):
        return found[:MAX_AUTHORS]
    text = embedded.open_graph.get("article:author", "")
    if not text or "://" in text:
        text = _first(embedded.others, *_AUTHORS)
    return [] if "://" in text else parse_authors(text)


def _authors_in(author: object) -> Iterator[Name]:
    for one in author if isinstance(author, list) else [author]:
        name = _name_in(one)
        if not name or "://" in name:
            continue
        if isinstance(one, dict) and _ORGANISATIONS.intersection(types_of(one)):
            yield parse_organisation(name)
        elif isinstance(one, dict) and _text(one.get("familyName")):
            yield Name(_text(one["familyName"]), _text(one.get("givenName")))
        else:
            yield from parse_authors(name)


def _date(embedded: EmbeddedData, article: JSONObject) -> Date | None:
    highwire, graph, others = embedded.highwire, embedded.open_graph, embedded.others
    candidates = (
        _first(highwire, "citation_publication_date", "citation_date", "citation_online_date", "citation_year"),
        _text(article.get("datePublished") or article.get("uploadDate") or article.get("dateCreated")),
        graph.get("article:published_time", ""),
        _first(others, *_DATES),
        _text(article.get("dateModified")),
        graph.get("article:modified_time", ""),
        others.get("time", ""),
    )
    return next(filter(None, map(read_date, filter(None, candidates))), None)


def _first(values: Mapping[str, str], *names: str) -> str:
    return next(filter(None, map(values.get, names)), "")


def _name_in(value: object) -> str:
    return _text(value.get("name")) if isinstance(value, dict) else _text(value)


def _text(value: object) -> str:
    if isinstance(value, list) and value:
        value = value[0]
    return " ".join(str(value).split())[:500] if isinstance(value, str) else ""
