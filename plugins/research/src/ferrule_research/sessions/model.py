"""What a session is, as its file has it. Instants are in ISO 8601, of UTC, to the second."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

Confidence = Literal["high", "medium", "low"]


class Step(TypedDict):
    """A step. It is of the branch `branchId`, which goes off from the step `branchFromStep`, or of the main line."""

    stepNumber: int
    description: str
    timestamp: str
    reasoning: NotRequired[str]
    confidence: NotRequired[Confidence]
    rejectedApproaches: NotRequired[list[str]]
    isRevision: NotRequired[bool]
    revisesStep: NotRequired[int]
    branchId: NotRequired[str]
    branchFromStep: NotRequired[int]


class Gap(TypedDict):
    """Something that is not known yet."""

    description: str
    foundInStep: int


class Source(TypedDict):
    """Where something is from. relevance: how it was had, such as `found` by a search, `scraped` or `academic`.

    author: names with "; " between them. site: the name of the site. journal: the name of one that it stands in. date:
    ISO 8601, as far as it is known. recorded: when it was added. httpStatus, verified, archivedUrl, verifiedAt:
    what came of asking for its page, of which a session keeps nothing.
    """

    url: str
    title: NotRequired[str]
    relevance: NotRequired[str]
    author: NotRequired[str]
    site: NotRequired[str]
    journal: NotRequired[str]
    date: NotRequired[str]
    doi: NotRequired[str]
    foundInStep: NotRequired[int]
    recorded: NotRequired[str]
    httpStatus: NotRequired[int]
    verified: NotRequired[bool]
    archivedUrl: NotRequired[str]
    verifiedAt: NotRequired[str]


class Outcome(TypedDict):
    """How an attempt has ended. kind: of the error, "" for a success. provider: of a search, url: of a page."""

    kind: str
    at: str
    provider: NotRequired[str]
    url: NotRequired[str]


class Session(TypedDict):
    """A session. total: how many steps there may be. summary: as the latest step has it."""

    shape: int
    sessionId: str
    researchGoal: str
    startedAt: str
    steps: list[Step]
    gaps: list[Gap]
    sources: list[Source]
    outcomes: list[Outcome]
    total: NotRequired[int]
    summary: NotRequired[str]
    completedAt: NotRequired[str]
