"""What others have found about a host: descriptive, and each with its source. A host that is not listed is unknown."""

from __future__ import annotations

import json
import os
from functools import cache
from typing import Any


def reputation(host: str) -> dict[str, str] | None:
    """`{"host", "tier", "basis", "source"}` of a host, or of the nearest domain that it belongs to; None for neither.

    tier: `high`, `mixed` or `low`. Domains are compared label by label, so a name that ends alike is another one.
    """
    labels = host.lower().rstrip(".").split(".")
    known = _hosts()
    found = (known.get(".".join(labels[first:])) for first in range(len(labels) - 1))
    return next(filter(None, found), None)


@cache
def _hosts() -> dict[str, dict[str, str]]:
    # Not by pathlib, which takes longer to import than all of this does.
    with open(os.path.join(os.path.dirname(__file__), "hosts.json"), "rb") as file:  # noqa: PTH118, PTH120, PTH123
        entries: list[Any] = json.loads(file.read())
    return {entry["host"]: entry for entry in entries}
