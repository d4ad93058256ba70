"""The sources that a call names, as references."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ferrule_research.library import (
    JOURNAL,
    PREPRINT,
    WEBPAGE,
    Reference,
    find_url_doi,
    parse_authors,
    parse_person,
    read_date,
)
from ferrule_scholar.works.identifiers import arxiv_of_doi, normalise_doi

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONMapping
    from ferrule_research.library import Name

KINDS = ("article-journal", "article", "paper-conference", "chapter", "book", "thesis", "report", "dataset", "webpage")
_TRACKING = ("utm_", "fbclid", "gclid")


def findings(arguments: JSONMapping) -> list[str]:
    """What is wrong with each source."""
    sources = arguments.get("sources") or []
    if not sources and not arguments.get("sessionId", "").strip():
        return ["sources: name at least one, with a url or a doi, or give the sessionId of a research"]
    return [f"sources[{number}]: {why}" for number, one in enumerate(sources) if (why := _judge(one))]


def _judge(source: JSONMapping) -> str:
    url, doi = source.get("url", "").strip(), source.get("doi", "").strip()
    if not (url or doi):
        return "it needs a url or a doi"
    if doi and not normalise_doi(doi):
        return f"{doi[:60]!r} is no DOI, write it as 10.1038/nature14539"
    if url and not find_url_doi(url) and not _is_address(url):
        return f"{url[:60]!r} is no http or https URL with a host, and holds no DOI"
    for name in ("date", "accessed"):
        if source.get(name, "").strip() and read_date(source[name]) is None:
            return f"{name}: {source[name][:40]!r} is no date, write it as 2024-03-05"
    if not doi_of(source) and not source.get("title", "").strip():
        return "it needs a title: only a DOI is looked up"
    return ""


def read_sources(sources: Sequence[JSONMapping]) -> list[Reference]:
    """The references, each once: by DOI, else by address. One with a DOI may lack its title."""
    found: dict[str, Reference] = {}
    for source in sources:
        reference = _read(source)
        identity = reference.doi or _canonical(reference.url)
        first = found.get(identity)
        found[identity] = reference if first is None or (not first.title and reference.title) else first
    return list(found.values())


def doi_of(source: Mapping[str, object]) -> str:
    """The DOI of a source, also where it stands in its address."""
    return normalise_doi(source.get("doi")) or normalise_doi(find_url_doi(str(source.get("url", ""))))


def _read(source: JSONMapping) -> Reference:
    doi = doi_of(source)
    container = _words(source.get("journal")) or _words(source.get("site"))
    return Reference(
        _words(source.get("title")),
        tuple(_authors(source)),
        read_date(source.get("date", "")) or read_date(str(source.get("year", ""))),
        container,
        source.get("type") or _guess_kind(doi, container),
        doi,
        source.get("url", "").strip() or (f"https://doi.org/{doi}" if doi else ""),
        _words(source.get("volume")),
        _words(source.get("issue")),
        _words(source.get("pages")),
        _words(source.get("publisher")),
        read_date(source.get("accessed", "")),
    )


def _guess_kind(doi: str, container: str) -> str:
    """A DOI alone does not make a journal article: books, data and theses have them, too."""
    if arxiv_of_doi(doi):
        return PREPRINT
    if not doi:
        return WEBPAGE
    return JOURNAL if container else "document"


def _authors(source: JSONMapping) -> list[Name]:
    """Of a list each is one author; of a text, who is one is guessed."""
    listed = [_words(one) for one in source.get("authors") or []]
    if listed:
        return [parse_person(one) for one in listed if one]
    return parse_authors(source.get("author", ""))


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        _ = parts.port  # it raises where the port is none
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname) and not any(map(str.isspace, url))


def _canonical(url: str) -> str:
    parts = urlsplit(url)
    query = "&".join(sorted(one for one in parts.query.split("&") if not one.startswith(_TRACKING)))
    host = (parts.hostname or "").removeprefix("www.")
    return f"{host}{parts.path.rstrip('/')}?{query}"


def _words(value: object) -> str:
    return " ".join(str(value).split()) if value is not None else ""
