"""The records of a work that services have, and whether its DOI is registered at all."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from ferrule.errors import ToolError
from ferrule_scholar.asking.client import SHAPE_ERRORS, ScholarClient, mapping
from ferrule_scholar.asking.panel import Opinion, ask_all
from ferrule_scholar.asking.query import WorkQuery
from ferrule_scholar.asking.scholar import RECORD, SEARCH, Found, Scholar
from ferrule_scholar.asking.settings import patience_of
from ferrule_scholar.scholars.registration import REGISTRY
from ferrule_scholar.scholars.registry import find_scholars
from ferrule_scholar.works.identifiers import ARXIV, DOI, Identifier
from ferrule_scholar.works.union import merge

if TYPE_CHECKING:
    from ferrule import Context, JSONObject
    from ferrule_scholar.works.work import Work

_REGISTERED, _UNREGISTERED = 1, 100  # response codes of the handle system
_HITS = 10
_MAX_WORDS = 60  # of a reference that is searched for


class Evidence(NamedTuple):
    """What was found. works: the best first. is_registered: None where that is not known."""

    works: Sequence[Work]
    opinions: Sequence[Opinion]
    is_registered: bool | None = None

    @property
    def provenance(self) -> list[JSONObject]:
        """Who was asked, and what came of it."""
        asked = [one.as_json() for one in self.opinions]
        if self.is_registered is not None:
            asked.append({"name": REGISTRY.label, "state": "answered", "registered": self.is_registered})
        return asked


def find_record(identifier: Identifier, context: Context) -> Evidence:
    """The work of an identifier, as all services have it that know such identifiers."""
    spellings = [identifier]
    if identifier.kind == ARXIV:
        spellings.append(Identifier(DOI, f"10.48550/arxiv.{identifier.value.lower()}"))

    def ask(scholar: Scholar, client: ScholarClient) -> Found:
        known = next((one for one in spellings if one.kind in scholar.service.kinds), None)
        work = scholar.record(known, client) if known else None
        is_it = work is not None and bool(set(spellings) & set(work.identifiers))
        return Found([work] if work is not None and is_it else [])

    kinds = {one.kind for one in spellings}
    scholars = {name: one for name, one in find_scholars(RECORD).items() if kinds & set(one.service.kinds)}
    opinions = ask_all(scholars, ask, context, patience_of(context))
    works = merge({one.name: one.found.works for one in opinions if one.found})
    registered = None
    if not works:
        registered = _is_registered(spellings[-1], context)
    return Evidence(works, opinions, registered)


def find_candidates(written: str, context: Context) -> Evidence:
    """Works that a reference may mean."""
    query = WorkQuery(" ".join(written.split()[:_MAX_WORDS]), _HITS)
    opinions = ask_all(
        find_scholars(SEARCH), lambda one, client: one.search(query, client), context, patience_of(context)
    )
    return Evidence(merge({one.name: one.found.works for one in opinions if one.found}), opinions)


def _is_registered(identifier: Identifier, context: Context) -> bool | None:
    """Whether the registry of handles has a DOI; None where it cannot be asked, and for what is no DOI."""
    if identifier.kind != DOI:
        return None
    deadline = time.monotonic() + patience_of(context)
    try:
        with ScholarClient(REGISTRY, context, deadline) as client:
            document = client.get_json(f"/api/handles/{quote(identifier.value, safe='/')}")
        code = None if document is None else mapping(document).get("responseCode")
    except (ToolError, *SHAPE_ERRORS):
        return None
    if document is None or code == _UNREGISTERED:
        return False
    return True if code == _REGISTERED else None
