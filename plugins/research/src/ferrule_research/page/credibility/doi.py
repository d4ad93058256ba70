"""The DOI of a scholarly page."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

if TYPE_CHECKING:
    from ferrule_research.page.metadata.embedded import EmbeddedData

_PAGES = r"<\d+:[^\s<>\"]{1,20}>"  # within older DOIs, such as <1661::AID-SIM968>
_DOI = re.compile(rf"(?<![\w.])10\.\d{{4,9}}(?:\.\d+)*/(?:[^\s\"<>\\^`{{|}}]|{_PAGES})+")
_FRONT_CHARS = 4000  # the first DOI of a paper's text is its own, later ones are of what it cites
_REFERENCES = re.compile(r"^[#*\s\d.]*(?:references|bibliography|literature cited|works cited)\b", re.I | re.M)
_NOT_OF_IT = re.compile(
    r"(?:/(?:full|fulltext|abstract|pdf|epdf|meta|html|epub|summary|figures|references|supplementary|tables)|\.pdf|\.full"
    r"|\.abstract|\.html?)+/?\Z",
    re.I,
)
_VERSION = re.compile(r"^(10\.1101/.+\d)v\d{1,2}\Z")  # of bioRxiv and medRxiv, whose DOI has none
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_MAX_DOI_CHARS = 300


def detect_doi(embedded: EmbeddedData, url: str, text: str) -> str:
    """By Highwire's `citation_doi`, then the URL's path, then the beginning of the text; "" if there is none."""
    if found := find_doi(embedded.highwire.get("citation_doi", "")):
        return found
    if found := _find_in(_split(url).path):
        return found
    front = text[:_FRONT_CHARS]
    if references := _REFERENCES.search(front):
        front = front[: references.start()]
    return find_doi(_ESCAPED.sub(r"\1", front))


def find_doi(text: str) -> str:
    """The first DOI in a text, without the punctuation around it; "" if there is none."""
    found = _DOI.search(text)
    return _bare(found[0][:_MAX_DOI_CHARS]) if found else ""


def find_url_doi(url: str) -> str:
    """The DOI in the path of a URL, else in its query or fragment, without what viewers add; "" if there is none."""
    parts = _split(url)
    places = [parts.path, *(value for _, value in parse_qsl(parts.query)), parts.fragment]
    return next(filter(None, map(_find_in, places)), "")


def _find_in(path: str) -> str:
    """The DOI in a part of a URL, without what a viewer or a server adds to it."""
    found = find_doi(unquote(path)).partition(";jsessionid=")[0]
    return _VERSION.sub(r"\1", _NOT_OF_IT.sub("", found))


def _bare(doi: str) -> str:
    """Without the punctuation of the sentence, or of the link, that it stands in; its own brackets stay."""
    while doi:
        last = doi[-1]
        opening = {")": "(", "]": "[", ">": "<"}.get(last)
        if last in "/.,;:!?'\"*_’”" or (opening and doi.count(last) > doi.count(opening)):
            doi = doi[:-1]
        elif "](" in doi:
            doi = doi.partition("](")[0]
        else:
            break
    return doi


def _split(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError:
        return urlsplit("")
