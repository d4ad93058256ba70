"""What others have found about a host: descriptive, and each with its source. A host that is not listed is unknown."""

from __future__ import annotations

from functools import cache

from ferrule_research.hosts import parents
from ferrule_research.package_data import load_json


def find_reputation(host: str) -> dict[str, str] | None:
    """`{"host", "tier", "basis", "source"}` of a host, or of the nearest domain that it belongs to; None for neither.

    tier: `high`, `mixed` or `low`. basis: what was found about the host. source: the URL where that stands.
    Domains are compared label by label, so a name that ends alike is another one.
    """
    reputations = _reputations()
    found = map(reputations.get, parents(host.lower().rstrip(".")))
    return next(filter(None, found), None)


@cache
def _reputations() -> dict[str, dict[str, str]]:
    entries: list[dict[str, str]] = load_json(__file__, "reputations.json")
    return {entry["host"]: entry for entry in entries}
