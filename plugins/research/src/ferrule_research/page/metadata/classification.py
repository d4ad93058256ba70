"""What kind of source a page is, how much its host is to be trusted at first sight, and which subject it is of.

All three are hints. What a page says of itself may name its kind, but never makes its host a better one.
"""

from __future__ import annotations

import json
import os
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from ferrule_research.page.metadata.hosts import host_of, parents

if TYPE_CHECKING:
    from ferrule_research.page.metadata.bibliography import Facts
    from ferrule_research.page.metadata.embedded import Source

UNKNOWN = "unknown"
_GENERAL = "general"

_OF_TYPE = {
    "peer_reviewed": ("ScholarlyArticle", "MedicalScholarlyArticle"),
    "news_publication": (
        *("NewsArticle", "AnalysisNewsArticle", "BackgroundNewsArticle", "OpinionNewsArticle"),
        *("ReportageNewsArticle", "ReviewNewsArticle", "LiveBlogPosting"),
    ),
    "forum": ("DiscussionForumPosting", "QAPage"),
    "social_media": ("SocialMediaPosting",),
    "official_docs": ("TechArticle", "APIReference"),
    "blog": ("BlogPosting", "Blog"),
}
_OF_FIRST_LABEL = {
    **dict.fromkeys(("docs", "developer", "developers", "devdocs", "api-docs"), "official_docs"),
    **dict.fromkeys(("blog", "blogs"), "blog"),
    **dict.fromkeys(("forum", "forums", "discuss", "community"), "forum"),
    **dict.fromkeys(("wiki", "wikis"), "wiki"),
}
_GOVERNMENT = frozenset(["gov", "mil"])
_ACADEMIC = frozenset(["edu", "ac"])
_TWO_LETTERS_ONLY = frozenset(["ac"])
# In other countries anybody may have these, such as go.to
_GOVERNMENT_OF = {
    "go": frozenset(["ci", "cr", "id", "jp", "ke", "kr", "th", "tz", "ug"]),
    "gob": frozenset(["ar", "bo", "cl", "do", "ec", "es", "gt", "hn", "mx", "ni", "pa", "pe", "sv", "ve"]),
    "gouv": frozenset(
        ["bj", "cd", "cg", "ci", "fr", "ga", "gn", "ht", "km", "mc", "mg", "ml", "ne", "rw", "sn", "td", "tg"]
    ),
    "govt": frozenset(["nz"]),
    "gub": frozenset(["uy"]),
    "govern": frozenset(["ad"]),
}
_TIERS = {"official_docs": "medium", "wiki": "medium"}  # of kinds that a host's first label names
_MEDICAL = ("MedicalWebPage", "MedicalScholarlyArticle", "MedicalCondition", "Drug", "MedicalGuideline")
_CATEGORIES = {"peer_reviewed": "academic", "official_docs": "technical"}


class Class(NamedTuple):
    """sourceType, authorityTier and domainCategory."""

    type: str
    tier: str
    category: str


def classify(url: str, facts: Facts, source: Source) -> Class:
    """By the page's types and Highwire tags, then by its host, matched label by label: never by a part of a name."""
    host = host_of(url)
    known = _known(host) or _by_suffix(host) or Class(UNKNOWN, "", "")
    claimed = _claimed(facts, source)
    named = _OF_FIRST_LABEL.get(host.partition(".")[0], UNKNOWN) if not known.tier else known.type
    kind = claimed if claimed != UNKNOWN else named
    tier = known.tier or _TIERS.get(named, "low")
    return Class(kind, tier, _category(known, kind, facts))


def is_scholarly(kind: Class, source: Source, url: str) -> bool:
    """Whether a DOI on the page would be that of the page: it is peer-reviewed, or on the host of papers."""
    known = _known(host_of(url))
    papers = known is not None and (known.type == "peer_reviewed" or known.category == "academic")
    return kind.type == "peer_reviewed" or papers or "citation_doi" in source.highwire


def _claimed(facts: Facts, source: Source) -> str:
    if facts.journal or "citation_issn" in source.highwire or "citation_conference_title" in source.highwire:
        return "peer_reviewed"
    found = (kind for kind, names in _OF_TYPE.items() if facts.types.intersection(names))
    return next(found, UNKNOWN)


def _known(host: str) -> Class | None:
    hosts = _hosts()
    return next((hosts[domain] for domain in parents(host) if domain in hosts), None)


def _by_suffix(host: str) -> Class | None:
    """Hosts of governments and universities, by the domains that only these can have."""
    labels = host.split(".")
    if len(labels) < 2:
        return None
    above = labels[-2] if len(labels) > 2 and len(labels[-1]) == 2 else ""
    if labels[-1] in _GOVERNMENT_OF.get(above, ()):
        return Class("government", "high", "")
    for names, found in (
        (_GOVERNMENT, Class("government", "high", "")),
        (_ACADEMIC, Class(UNKNOWN, "medium", "academic")),
    ):
        if above in names or labels[-1] in names.difference(_TWO_LETTERS_ONLY):
            return found
    return None


def _category(known: Class, kind: str, facts: Facts) -> str:
    if facts.types.intersection(_MEDICAL):
        return "medical"
    if "Legislation" in facts.types:
        return "legal"
    return known.category or _CATEGORIES.get(kind, _GENERAL)


@cache
def _hosts() -> dict[str, Class]:
    name = os.path.join(os.path.dirname(__file__), "hosts.json")  # noqa: PTH118, PTH120 - pathlib costs more than this
    with open(name, "rb") as file:  # noqa: PTH123
        groups = json.loads(file.read())
    return {host: Class(group["type"], group["tier"], group["category"]) for group in groups for host in group["hosts"]}
