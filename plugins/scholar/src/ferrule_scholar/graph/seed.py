"""The paper from which a walk starts, in the records of one service."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ferrule.errors import ToolError
from ferrule_scholar.asking.query import WorkQuery
from ferrule_scholar.asking.scholar import SEARCH, Found, Scholar
from ferrule_scholar.works.identifiers import ARXIV, DOI, TITLE, Identifier
from ferrule_scholar.works.titles import title_likeness

if TYPE_CHECKING:
    from ferrule_scholar.asking.client import ScholarClient

_ALIKE = 0.9  # of titles, so that another paper is not taken for the one that is named
_HITS = 10


def find_seed(scholar: Scholar, identifier: Identifier, client: ScholarClient) -> Found:
    """The record of a paper by an identifier or by its title; none where the service has it not."""
    if identifier.kind == TITLE:
        return _find_by_title(scholar, identifier.value, client)
    for one in _spellings(identifier):
        if one.kind in scholar.service.kinds:
            work = scholar.record(one, client)
            if work is not None and work.title:
                return Found([work])
    return Found([])


def missing_seed(identifier: Identifier, asked: Sequence[str]) -> ToolError:
    """The error for a paper that no service knows."""
    details = {"kind": "not_found", "retryable": False, "suggestedAction": "broaden_query", "providersAttempted": asked}
    message = f"No provider knows a paper of this {identifier.kind}: {identifier.value[:200]}."
    hint = "Find it with academic_search, and give its DOI."
    return ToolError("NOT_FOUND", message, hint=hint, details={**details, "providersAttempted": list(asked)})


def _find_by_title(scholar: Scholar, title: str, client: ScholarClient) -> Found:
    """The hit whose title is the one that is asked for; of several, the one that is cited most."""
    if SEARCH not in scholar.abilities:
        return Found([])
    hits = scholar.search(WorkQuery(title, _HITS), client).works
    alike = [one for one in hits if title_likeness(title, one.title) >= _ALIKE]
    return Found(sorted(alike, key=lambda one: (-title_likeness(title, one.title), -(one.citations or 0)))[:1])


def _spellings(identifier: Identifier) -> list[Identifier]:
    """An identifier, and the DOI that arXiv gives each paper, for services that know DOIs alone."""
    if identifier.kind == ARXIV:
        return [identifier, Identifier(DOI, f"10.48550/arxiv.{identifier.value.lower()}")]
    return [identifier]
