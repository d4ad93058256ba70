"""What the headers of an answer say of a provider's limits."""

from __future__ import annotations

from typing import NamedTuple


class StatedLimit(NamedTuple):
    """One limit. name: requests, tokens, input-tokens or output-tokens. limit: for a minute. left: of it, by now."""

    name: str
    limit: float
    left: float
