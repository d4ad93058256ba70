"""What the sources of a session cover, and what to search for next: by rules, without a model."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, NotRequired, TypedDict

from ferrule_research.hosts import host_of

if TYPE_CHECKING:
    from ferrule_research.sessions.model import Session

MAX_QUERIES = 6
_LEAST_SOURCES = 3
_DOMINANT_SHARE = 0.6
_GOAL_CHARS = 120
_GAP_CHARS = 200
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_OTHER_KINDS = {"academic": "latest news", "scraped": "research paper", "patent": "research paper"}
_ANY_KIND = "peer-reviewed study"


class Coverage(TypedDict):
    """What sources cover. domainSpread: domains for each source. sourceTypes: sources by how they were had."""

    sourceCount: int
    uniqueDomains: int
    domainSpread: float
    sourceTypes: dict[str, int]
    gaps: list[str]
    dominantDomain: NotRequired[str]


def measure_coverage(session: Session) -> Coverage:
    """What the sources of a session cover, and in `gaps` what is missing of them, as sentences."""
    domains = Counter(host_of(one["url"]).removeprefix("www.") for one in session["sources"])
    kinds = Counter(one.get("relevance", "unknown") for one in session["sources"])
    count = sum(domains.values())
    found: Coverage = {
        "sourceCount": count,
        "uniqueDomains": len(domains),
        "domainSpread": round(len(domains) / count, 2) if count else 0.0,
        "sourceTypes": dict(sorted(kinds.items())),
        "gaps": list(_name_gaps(count, len(domains), len(kinds))),
    }
    if count > 1 and (top := domains.most_common(1)[0])[1] / count > _DOMINANT_SHARE:
        found["dominantDomain"] = top[0]
    return found


def suggest_queries(session: Session, coverage: Coverage) -> list[str]:
    """Up to six queries for what is not known or not covered yet: the goal as a phrase, and what is new in each."""
    goal = _shorten_goal(session["researchGoal"])
    known = {word.casefold() for word in _WORD.findall(goal)}
    queries = []
    for gap in reversed(session["gaps"]):  # the latest first
        text = gap["description"][:_GAP_CHARS]
        new = [word for word in _WORD.findall(text) if word.casefold() not in known and len(word) > 2]
        year = _YEAR.search(text)
        after = f"after:{year[0]}" if year else ""
        queries.append(" ".join(filter(None, [f'"{goal}"', *new[:8], after])))
    if domain := coverage.get("dominantDomain"):
        queries.append(f"{goal} -site:{domain}")
    if len(coverage["sourceTypes"]) == 1:
        queries.append(f"{goal} {_OTHER_KINDS.get(next(iter(coverage['sourceTypes'])), _ANY_KIND)}")
    return list(dict.fromkeys(queries))[:MAX_QUERIES]


def _name_gaps(sources: int, domains: int, kinds: int) -> list[str]:
    if not sources:
        return ["There are no sources yet."]
    found = []
    if sources < _LEAST_SOURCES:
        found.append(f"There are fewer than {_LEAST_SOURCES} sources.")
    if domains == 1 and sources > 1:
        found.append("All sources are of one domain.")
    if kinds == 1:
        found.append("All sources are of one type.")
    return found


def _shorten_goal(goal: str) -> str:
    """The goal as a phrase of a query: one line, without quotes, of whole words."""
    text = " ".join(goal.replace('"', " ").split()).rstrip("?!. ")
    return text if len(text) <= _GOAL_CHARS else text[:_GOAL_CHARS].rpartition(" ")[0] or text[:_GOAL_CHARS]
