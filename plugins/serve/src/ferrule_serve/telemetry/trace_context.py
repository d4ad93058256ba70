"""Which trace the request belongs to that is being answered, as its client has said it (W3C Trace Context)."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

NAMES = ("traceparent", "tracestate")
_MAX_CHARS = 1024  # of each

CURRENT: ContextVar[Mapping[str, str] | None] = ContextVar("trace of the request", default=None)
"""Of the task that answers a request: what `read` gives."""


def read(meta: Mapping[str, object], headers: Mapping[str, str]) -> dict[str, str]:
    """What `_meta` of a request says of its trace, else what its headers say; empty where neither does.

    The request itself comes first: headers may be those of a proxy, and one connection has many requests.
    """
    for source in (meta, headers):
        found = {name: value for name in NAMES if isinstance(value := source.get(name), str)}
        if NAMES[0] in found and all(len(value) <= _MAX_CHARS for value in found.values()):
            return found
    return {}
