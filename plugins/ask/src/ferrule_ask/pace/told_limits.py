"""What the headers of an answer say of a provider's limits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ferrule.http import parse_unsigned

_PREFIX = "anthropic-ratelimit-"
NAMES = ("requests", "tokens", "input-tokens", "output-tokens")


class ToldLimit(NamedTuple):
    """One limit. limit: for a minute. left: of it, as the provider counts."""

    name: str
    limit: float
    left: float


def told_limits(headers: Mapping[str, str]) -> Iterator[ToldLimit]:
    """The limits that headers name whole.

    >>> list(told_limits({"anthropic-ratelimit-requests-limit": "50", "anthropic-ratelimit-requests-remaining": "7"}))
    [ToldLimit(name='requests', limit=50.0, left=7.0)]
    """
    for name in NAMES:
        limit = parse_unsigned(headers.get(f"{_PREFIX}{name}-limit", ""))
        left = parse_unsigned(headers.get(f"{_PREFIX}{name}-remaining", ""))
        if limit and left is not None:
            yield ToldLimit(name, float(limit), float(left))
