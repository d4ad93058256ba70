"""Records that claim a title which a paper that is cited far more has, too, on a host that publishes no papers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ferrule_research.library import classify_host
from ferrule_scholar.works.titles import title_key

if TYPE_CHECKING:
    from ferrule_scholar.works.work import Work

_LEAST_CITATIONS = 50  # of the paper that is known by the title
_TIMES_CITED = 10
_SERVICES = (  # whose addresses are not those of who has published it
    *("doi.org", "openalex.org", "semanticscholar.org", "ncbi.nlm.nih.gov", "europepmc.org", "arxiv.org"),
)
_DOUBTFUL = "low"  # the tier of hosts of which nothing is known


def find_copies(works: Sequence[Work]) -> frozenset[int]:
    """The places of works that may be a copy: of the same title, cited less than a tenth, and on an unknown host.

    It is a sign to look at and no proof; a work whose host is not known is none of them.
    """
    most: dict[str, int] = {}
    for one in works:
        key = title_key(one.title)
        most[key] = max(most.get(key, 0), one.citations or 0)
    return frozenset(place for place, one in enumerate(works) if _is_copy(one, most[title_key(one.title)]))


def _is_copy(work: Work, most: int) -> bool:
    if not title_key(work.title) or most < _LEAST_CITATIONS or _TIMES_CITED * (work.citations or 0) >= most:
        return False
    return any(map(_is_doubtful, (work.url, work.pdf_url)))


def _is_doubtful(url: str) -> bool:
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:  # of what a service gives for an address, and is none
        return False
    is_of_service = any(host == one or host.endswith(f".{one}") for one in _SERVICES)
    return bool(host) and not is_of_service and classify_host(url).tier == _DOUBTFUL
