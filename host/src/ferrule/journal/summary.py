"""Many calls in a few numbers, tool by tool."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from ferrule.journal.entries import Entry


class ToolSummary(TypedDict):
    """All calls of one tool. failures: their number by code. p50_seconds, p95_seconds: half of the calls, and 95 of
    100, took no longer. input_bytes, output_bytes: of all calls together. denied: calls that were denied something.
    """

    tool: str
    calls: int
    failed: int
    failures: dict[str, int]
    denied: int
    p50_seconds: float
    p95_seconds: float
    input_bytes: int
    output_bytes: int


def summarise(entries: Iterable[Entry]) -> list[ToolSummary]:
    """One summary for each tool, in the order of their names."""
    calls: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        calls[entry["tool"]].append(entry)
    return [_summary(tool, calls[tool]) for tool in sorted(calls)]


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest of the values that at least this share of them does not exceed. values: sorted, at least one."""
    return values[max(0, -int(-len(values) * share // 1) - 1)]


def _summary(tool: str, entries: Sequence[Entry]) -> ToolSummary:
    seconds = sorted(entry["seconds"] for entry in entries)
    failures = Counter(entry["outcome"] for entry in entries if entry["outcome"] != "ok")
    return {
        "tool": tool,
        "calls": len(entries),
        "failed": failures.total(),
        "failures": dict(failures.most_common()),
        "denied": sum(1 for entry in entries if entry.get("denied")),
        "p50_seconds": percentile(seconds, 0.50),
        "p95_seconds": percentile(seconds, 0.95),
        "input_bytes": sum(entry["input_bytes"] for entry in entries),
        "output_bytes": sum(entry["output_bytes"] for entry in entries),
    }
