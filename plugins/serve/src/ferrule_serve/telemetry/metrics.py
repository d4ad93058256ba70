"""The figures of the server in the text format of Prometheus, by its client library.

ferrule_calls_total{tool, by, outcome}    calls; outcome is ok, failed or cancelled
ferrule_call_failures_total{tool, code}   failures, by their code
ferrule_call_seconds{tool}                a histogram of the time of a call, with the time in the queue
ferrule_calls_running, ferrule_calls_queued, ferrule_plugins_loaded, ferrule_copies
process_*, python_info                    of the serving process
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Histogram, PlatformCollector, ProcessCollector
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.metrics_core import GaugeMetricFamily
from prometheus_client.registry import Collector

if TYPE_CHECKING:
    from prometheus_client import Metric

    from ferrule.calls.server_interface import ServerFacts
    from ferrule_serve.pool import CallAnswer, Pool, PoolStats

_MAX_TOOLS = 500  # that get labels of their own: a client may ask for any name
_OTHER = "other"
_BUCKETS_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 60)


class Metrics:
    """The figures of the calls of one pool."""

    content_type = CONTENT_TYPE_LATEST

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._tools: set[str] = set()
        self._calls = Counter("ferrule_calls", "Calls.", ("tool", "by", "outcome"), registry=self._registry)
        self._failures = Counter("ferrule_call_failures", "Failures.", ("tool", "code"), registry=self._registry)
        self._seconds = Histogram(
            "ferrule_call_seconds", "Time of a call, with that in the queue.", ("tool",),
            buckets=_BUCKETS_SECONDS, registry=self._registry,
        )  # fmt: skip
        self._now = _Now()
        self._registry.register(self._now)
        ProcessCollector(registry=self._registry)
        PlatformCollector(registry=self._registry)

    def start(self, tool: str, by: str, _received: int) -> _Measured:
        """Measure a call that begins. It is a `Recorder` of a pool."""
        return _Measured(self, self._label(tool), by)

    async def text(self, pool: Pool) -> bytes:
        """All figures now. pool: whose calls these are."""
        self._now.stats, self._now.facts = pool.stats(), await pool.facts()
        return generate_latest(self._registry)

    def count(self, tool: str, by: str, outcome: str, code: str, seconds: float) -> None:
        """Take what came of a call."""
        self._calls.labels(tool, by, outcome).inc()
        self._seconds.labels(tool).observe(seconds)
        if code:
            self._failures.labels(tool, code).inc()

    def _label(self, tool: str) -> str:
        if tool not in self._tools and len(self._tools) >= _MAX_TOOLS:
            return _OTHER
        self._tools.add(tool)
        return tool


class _Measured:
    def __init__(self, metrics: Metrics, tool: str, by: str) -> None:
        self._metrics, self._tool, self._by = metrics, tool, by
        self._start = time.monotonic()

    def finish(self, answer: CallAnswer | None) -> None:
        outcome, code = "ok", ""
        if answer is None:
            outcome = "cancelled"
        elif answer.is_error:
            outcome, code = "failed", answer.code or "UNKNOWN"
        self._metrics.count(self._tool, self._by, outcome, code, time.monotonic() - self._start)


class _Now(Collector):
    """What is read off the pool when the figures are asked for."""

    def __init__(self) -> None:
        self.stats: PoolStats | None = None
        self.facts: ServerFacts = {"plugins": [], "is_idle": True}

    def collect(self) -> Iterator[Metric]:
        plugins, stats = self.facts["plugins"], self.stats
        if stats is not None:
            yield GaugeMetricFamily("ferrule_calls_running", "Calls that run.", stats.running)
            yield GaugeMetricFamily("ferrule_calls_queued", "Calls that wait for their turn.", stats.queued)
        yield GaugeMetricFamily("ferrule_plugins_loaded", "Tools whose plugin is loaded.", len(plugins))
        copies = sum(len(plugin["copies"]) for plugin in plugins)
        yield GaugeMetricFamily("ferrule_copies", "Processes that wait for calls, or run them.", copies)
