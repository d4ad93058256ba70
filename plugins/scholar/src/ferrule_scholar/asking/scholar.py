"""What a service of papers is, from whichever distribution: an entry point of the group `ferrule.scholars`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from ferrule_scholar.asking.client import ScholarClient
    from ferrule_scholar.asking.query import WorkQuery
    from ferrule_scholar.asking.service import Service
    from ferrule_scholar.works.identifiers import Identifier
    from ferrule_scholar.works.work import Work

GROUP = "ferrule.scholars"
SEARCH, RECORD, CITATIONS, REFERENCES = "search", "record", "citations", "references"


class Found(NamedTuple):
    """What a service found. total: how many it has, None where it does not say."""

    works: Sequence[Work]
    total: int | None = None


class Scholar(Protocol):
    """A service of papers. Its methods raise ToolError, as the client does; what it cannot do, it is not asked for.

    abilities: which of `SEARCH`, `RECORD`, `CITATIONS` and `REFERENCES` it has. Of a document of another shape it may
    raise LookupError, TypeError, AttributeError or ValueError.
    """

    name: str
    service: Service
    abilities: frozenset[str]

    def search(self, query: WorkQuery, client: ScholarClient) -> Found:
        """The papers that fit best, the best first."""
        ...

    def record(self, identifier: Identifier, client: ScholarClient) -> Work | None:
        """The paper of an identifier of one of the service's `kinds`; None where the service does not know it."""
        ...

    def citations(self, work: Work, limit: int, client: ScholarClient) -> Found:
        """The papers that cite one which `record` or `search` of the same service has found."""
        ...

    def references(self, work: Work, limit: int, client: ScholarClient) -> Found:
        """The papers that one cites, which `record` or `search` of the same service has found."""
        ...


Scholars = Mapping[str, Scholar]
