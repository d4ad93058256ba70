"""The identifiers of papers: DOI, arXiv, PubMed, PubMed Central."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import unquote

DOI, ARXIV, PMID, PMCID, TITLE = "doi", "arxiv", "pmid", "pmcid", "title"

_DOI = re.compile(r"10\.\d{4,9}/\S+")
_RESOLVER = re.compile(r"^(?:https?://)?(?:dx\.|www\.)?doi\.org/", re.I)
_AFTER_PATH = re.compile(r"[?#].+")  # of an address; a DOI may end with #
_URL = re.compile(r"https?://\S+", re.I)
_NEW_ARXIV = r"\d{4}\.\d{4,5}"
_OLD_ARXIV = r"[a-z-]+(?:\.[a-z-]+)?/\d{7}"
_ARXIV_SUBJECT = re.compile(r"\.[a-z-]+(?=/)")  # which a number of before 2007 may have, and the archive's own has not
_ARXIV = re.compile(rf"({_NEW_ARXIV}|{_OLD_ARXIV})(?:v\d+)?", re.I)
_ARXIV_PLACE = re.compile(rf"(?:arxiv:\s*|arxiv\.org/(?:abs|pdf|html)/)({_NEW_ARXIV}|{_OLD_ARXIV})", re.I)
_ARXIV_DOI = re.compile(r"10\.48550/arxiv\.(.+)", re.I)
_PMID_PLACE = re.compile(r"(?:pmid:?\s*|pubmed\.ncbi\.nlm\.nih\.gov/|ncbi\.nlm\.nih\.gov/pubmed/)(\d{1,9})", re.I)
_PMCID = re.compile(r"\b(PMC\d{3,9})\b", re.I)
_TEST_PREFIX = "10.5555/"  # DOIs that are examples, and lead to no paper
_PREPRINT_PREFIXES = tuple(f"10.{number}/" for number in (48550, 21203, 20944, 26434, 31234, 2139, 36227))
_BIORXIV = re.compile(r"10\.1101/(?:\d{4}\.\d\d\.\d\d\.)?\d+")  # journals have DOIs with this prefix, too
_VERSION = re.compile(r"[./-]v\d+\Z")


class Identifier(NamedTuple):
    """What names a paper. kind: `doi`, `arxiv`, `pmid`, `pmcid`, or `title` for words."""

    kind: str
    value: str


def normalise_doi(text: object) -> str:
    """A DOI in small letters, without the address of its resolver; "" for what is none, or is an example."""
    if not isinstance(text, str):
        return ""
    written = re.sub(r"^doi:\s*", "", text.strip(), flags=re.I)
    bare = _RESOLVER.sub("", written)
    if bare != written:
        bare = _AFTER_PATH.sub("", bare)
    bare = unquote(bare).lower().rstrip(".,;")
    is_doi = _DOI.fullmatch(bare) and not bare.startswith(_TEST_PREFIX)
    return bare if is_doi and not {".", ".."} & set(bare.split("/")) else ""  # which would lead to another path


def normalise_arxiv(text: object) -> str:
    """The number of an arXiv paper without its version; "" for what is none."""
    if not isinstance(text, str):
        return ""
    bare = re.sub(r"^(?:https?://arxiv\.org/(?:abs|pdf)/|arxiv:\s*)", "", text.strip(), flags=re.I).removesuffix(".pdf")
    found = _ARXIV.fullmatch(bare)
    return _ARXIV_SUBJECT.sub("", found[1].lower()) if found else ""


def arxiv_of_doi(doi: str) -> str:
    """The arXiv number that a DOI of arXiv holds; "" for another DOI."""
    found = _ARXIV_DOI.fullmatch(doi)
    return normalise_arxiv(found[1]) if found else ""


def is_preprint_doi(doi: str) -> bool:
    """Whether a DOI is one that a server of preprints gives, which the published paper has not."""
    return doi.startswith(_PREPRINT_PREFIXES) or bool(_BIORXIV.fullmatch(doi))


def are_versions(one: str, other: str) -> bool:
    """Whether two DOIs are of versions of one preprint, as far as their spelling shows it."""
    return _VERSION.sub("", one) == _VERSION.sub("", other)


def parse_identifier(text: str) -> Identifier:
    """What a user's words name: the first identifier in them, else a title."""
    words = " ".join(text.split())
    found: tuple[tuple[str, str], ...] = (
        (DOI, _find_doi(words)),
        (ARXIV, normalise_arxiv(words) or normalise_arxiv(_group(_ARXIV_PLACE, words))),
        (PMID, words if words.isascii() and words.isdigit() and 4 <= len(words) <= 9 else _group(_PMID_PLACE, words)),
        (PMCID, _group(_PMCID, words).upper()),
    )
    kind, value = next(((kind, value) for kind, value in found if value), (TITLE, words))
    if kind == DOI and (number := arxiv_of_doi(value)):
        return Identifier(ARXIV, number)
    return Identifier(kind, value)


def _find_doi(words: str) -> str:
    """The DOI that words are, else the first one in them, which may stand in an address."""
    from ferrule_research.library import find_doi, find_url_doi

    if whole := normalise_doi(words):
        return normalise_doi(find_doi(whole))
    return normalise_doi(find_doi(_URL.sub(lambda found: f" {find_url_doi(found[0])} ", words)))


def _group(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.search(text)
    return found[1] if found else ""
