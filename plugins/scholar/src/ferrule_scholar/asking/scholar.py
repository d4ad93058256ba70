"""What a service of papers is, whoever brings it: an entry point of the group `ferrule.scholars`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from ferrule_scholar.asking.client import ScholarClient
    from ferrule_scholar.asking.query import WorkQuery
    from ferrule_scholar.works.identifiers import Identifier
    from ferrule_scholar.works.work import Work

GROUP = "ferrule.scholars"
SEARCH, RECORD, CITATIONS, REFERENCES = "search", "record", "citations", "references"


class Service(NamedTuple):
    """Where a service is, and how often it may be asked.

    Args:
        label: as people call it. endpoint: the URL that its paths are added to, without a slash at its end.
        variable: of the environment, for another endpoint. setting: the same in the tool's table of config.toml.
        credential: the name of its key among those that the tools declare; "" where it has none.
        pace: requests and seconds, which all processes of a user keep together. pace_with_key, pace_with_contact: the
            same with a key, or with an e-mail address, where that allows more.
        contact: the parameter for an e-mail address; "" where it has none.
        kinds: the identifiers that it knows, of `Identifier.kind`.
    """

    label: str
    endpoint: str
    variable: str
    setting: str
    pace: Sequence[tuple[int, float]] = ()
    pace_with_key: Sequence[tuple[int, float]] = ()
    pace_with_contact: Sequence[tuple[int, float]] = ()
    credential: str = ""
    contact: str = ""
    kinds: Sequence[str] = ()


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
