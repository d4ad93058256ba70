"""How long a query may take, and how much memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule_opennotes.errors import QUERY_SECONDS

if TYPE_CHECKING:
    from ferrule import Context

_RESERVE = 0.5  # seconds in which the answer is made
_SMALLEST, _LARGEST, _USUAL = 64, 2048, 1024  # MiB
_SHARE = 0.45  # of the address space that is left; DuckDB does not count all that it takes


def seconds(context: Context) -> float:
    """Seconds until a query has to be over."""
    return max(0.1, min(QUERY_SECONDS, context.remaining() - _RESERVE))


def memory() -> int:
    """MiB that DuckDB may use: a share of what this process may still take."""
    import resource

    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return _USUAL
    left = (limit - _taken()) >> 20
    return int(min(_LARGEST, max(_SMALLEST, left * _SHARE)))


def _taken() -> int:
    """Bytes of address space that this process has; 0 where the system does not say."""
    try:
        with open("/proc/self/statm", encoding="ascii") as stream:
            pages = int(stream.read().split()[0])
    except (OSError, ValueError):
        return 0
    import resource

    return pages * resource.getpagesize()
