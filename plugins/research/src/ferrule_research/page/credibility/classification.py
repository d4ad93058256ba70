"""What kind of source a page is, how much its host is to be trusted at first sight, and which subject it is of.

All three are hints. What a page says of itself may name its kind, but never makes its host a better one.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from ferrule_research.hosts import host_of, parents
from ferrule_research.package_data import load_json

if TYPE_CHECKING:
    from ferrule import JSONObject
    from ferrule_research.page.metadata.bibliography import Bibliography
    from ferrule_research.page.metadata.embedded import EmbeddedData

UNKNOWN = "unknown"
_GENERAL = "general"

_GOVERNMENT = frozenset(["gov", "mil"])
_ACADEMIC = frozenset(["edu", "ac"])  # "ac" below a country only; by itself it is one
_TIERS = {"official_docs": "medium", "wiki": "medium"}  # of kinds that a host's first label names
_MEDICAL = ("MedicalWebPage", "MedicalScholarlyArticle", "MedicalCondition", "Drug", "MedicalGuideline")
_PERIODICAL_TAGS = ("citation_issn", "citation_conference_title")
_CATEGORIES = {"peer_reviewed": "academic", "official_docs": "technical"}


class SourceType(NamedTuple):
    """What a page is: its type, the tier of its host, the category of its subject."""

    type: str
    tier: str
    category: str

    def as_json(self) -> dict[str, str]:
        """`{"sourceType", "authorityTier", "domainCategory"}`."""
        return {"sourceType": self.type, "authorityTier": self.tier, "domainCategory": self.category}


def classify(url: str, bibliography: Bibliography, embedded: EmbeddedData) -> SourceType:
    """By the page's types and Highwire tags, then by its host, matched label by label: never by a part of a name."""
    known = _known(host_of(url)) or _by_suffix(host_of(url)) or SourceType(UNKNOWN, "", "")
    claimed, of_host = _claimed_type(bibliography, embedded), classify_host(url)
    kind = claimed if claimed != UNKNOWN else of_host.type
    return SourceType(kind, of_host.tier, _category(known, kind, bibliography))


def classify_host(url: str) -> SourceType:
    """By the host alone, for what was not read."""
    host = host_of(url)
    known = _known(host) or _by_suffix(host) or SourceType(UNKNOWN, "", "")
    named = _rules().first_labels.get(host.partition(".")[0], UNKNOWN) if not known.tier else known.type
    tier = known.tier or _TIERS.get(named, "low")
    return SourceType(named, tier, known.category or _CATEGORIES.get(named, _GENERAL))


def is_scholarly(kind: SourceType, embedded: EmbeddedData, url: str) -> bool:
    """Whether a DOI on the page would be that of the page: it is peer-reviewed, or on the host of papers."""
    known = _known(host_of(url))
    papers = known is not None and (known.type == "peer_reviewed" or known.category == "academic")
    return kind.type == "peer_reviewed" or papers or "citation_doi" in embedded.highwire


def _claimed_type(bibliography: Bibliography, embedded: EmbeddedData) -> str:
    if bibliography.journal or not embedded.highwire.keys().isdisjoint(_PERIODICAL_TAGS):
        return "peer_reviewed"
    found = (kind for kind, names in _rules().schema_types.items() if bibliography.types.intersection(names))
    return next(found, UNKNOWN)


def _known(host: str) -> SourceType | None:
    hosts = _rules().hosts
    return next((hosts[domain] for domain in parents(host) if domain in hosts), None)


def _by_suffix(host: str) -> SourceType | None:
    """Hosts of governments and universities, by the domains that only these can have."""
    labels = host.split(".")
    if len(labels) < 2:
        return None
    above = labels[-2] if len(labels) > 2 and len(labels[-1]) == 2 else ""
    if labels[-1] in _rules().government_of.get(above, ()):
        return SourceType("government", "high", "")
    if above in _GOVERNMENT or labels[-1] in _GOVERNMENT:
        return SourceType("government", "high", "")
    is_academic = above in _ACADEMIC or labels[-1] == "edu"
    return SourceType(UNKNOWN, "medium", "academic") if is_academic else None


def _category(known: SourceType, kind: str, bibliography: Bibliography) -> str:
    if bibliography.types.intersection(_MEDICAL):
        return "medical"
    if "Legislation" in bibliography.types:
        return "legal"
    return known.category or _CATEGORIES.get(kind, _GENERAL)


class _Rules(NamedTuple):
    """hosts: what is known of a domain. schema_types: names of Schema.org's by the type that they mean. first_labels:
    the type that the first label of a host means. government_of: countries in which only a government has a domain
    under this one, such as go.jp; elsewhere anybody may, such as go.to."""

    hosts: Mapping[str, SourceType]
    schema_types: Mapping[str, list[str]]
    first_labels: Mapping[str, str]
    government_of: Mapping[str, list[str]]


@cache
def _rules() -> _Rules:
    data: JSONObject = load_json(__file__, "source_types.json")
    hosts = {
        host: SourceType(group["type"], group["tier"], group["category"])
        for group in data["hosts"]
        for host in group["hosts"]
    }
    first_labels = {label: kind for kind, labels in data["first_labels"].items() for label in labels}
    return _Rules(hosts, data["schema_types"], first_labels, data["government_of"])
