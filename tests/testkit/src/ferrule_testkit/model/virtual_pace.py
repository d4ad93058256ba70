"""Rows that are asked at the pace of a `State` against a bucket of requests, in virtual time, without a process.

done = VirtualRows(per_minute=50, burst=5).ask(30)
assert done.seconds <= 1.3 * done.ideal_seconds
"""

import heapq
import itertools
import random
from collections import Counter, deque
from collections.abc import Callable
from typing import NamedTuple

from ferrule_ask.pace.bucket import REQUESTS, State

_ONE = {REQUESTS: 1.0}
_MARGIN_SECONDS, _REFUSAL_SECONDS = 0.001, 0.005


class Asked(NamedTuple):
    """What came of it. refusals: of all rows. most_refusals: of one row."""

    seconds: float
    ideal_seconds: float
    refusals: int
    most_refusals: int


class VirtualRows:
    """A provider without headers, and who asks it.

    Args:
        per_minute: requests that the provider takes.
        burst: that it takes at once.
        concurrency: rows that are asked at once.
        latency: seconds until an answer, about.
    """

    def __init__(self, per_minute: float, burst: float, *, concurrency: int = 16, latency: float = 0.05) -> None:
        self._rate, self._burst = per_minute / 60, burst
        self._concurrency, self._latency = concurrency, latency
        self._chance = random.Random(5)
        self._state = State()
        self._events: list[tuple[float, int, Callable[[float], None]]] = []
        self._numbers = itertools.count()
        self._line: deque[int] = deque()
        self._is_waiting = False
        self._level, self._at, self._end = burst, 0.0, 0.0
        self._under_way: list[float] = []
        self._refused: Counter[int] = Counter()

    def ask(self, rows: int) -> Asked:
        """Ask so many rows."""
        self._left = iter(range(rows))
        for row in itertools.islice(self._left, self._concurrency):
            self._line.append(row)
        self._step(0.0)
        while self._events:
            now, _, act = heapq.heappop(self._events)
            act(now)
        ideal = max((rows - self._burst) / self._rate, rows * self._latency / self._concurrency)
        return Asked(self._end, ideal, self._refused.total(), max(self._refused.values(), default=0))

    def _at_instant(self, instant: float, act: Callable[[float], None]) -> None:
        heapq.heappush(self._events, (instant, next(self._numbers), act))

    def _step(self, now: float) -> None:
        while self._line and not self._is_waiting:
            self._take(now, self._line.popleft())

    def _take(self, now: float, row: int) -> None:
        seconds = self._state.wait(now, _ONE)
        self._state.take(_ONE)
        self._is_waiting = seconds > 0
        if not self._is_waiting:
            self._send(now, row)
            return
        self._at_instant(now + seconds + _MARGIN_SECONDS, lambda later: self._wake(later, row, now + seconds))

    def _wake(self, now: float, row: int, turn: float) -> None:
        if self._state.blocked > max(now, turn):
            self._state.take(_ONE, -1.0)
            self._take(now, row)
            return
        self._is_waiting = False
        self._send(now, row)
        self._step(now)

    def _send(self, now: float, row: int) -> None:
        self._level = min(self._burst, self._level + (now - self._at) * self._rate)
        self._at = now
        if self._level < 1:
            self._at_instant(now + _REFUSAL_SECONDS, lambda later: self._refuse(later, row))
            return
        self._level -= 1
        self._under_way.append(now)
        latency = self._latency * self._chance.uniform(0.5, 1.5)
        self._at_instant(now + latency, lambda later: self._answer(later, now))

    def _answer(self, now: float, begun: float) -> None:
        self._end = now
        self._under_way.remove(begun)
        self._state.accept(now, begun)
        self._line.extend(itertools.islice(self._left, 1))
        self._step(now)

    def _refuse(self, now: float, row: int) -> None:
        self._refused[row] += 1
        under_way = sum(begun >= self._state.accepted[1] for begun in self._under_way)
        waiting = int(self._is_waiting)
        self._state.refuse(now, None, waiting=waiting, chance=self._chance.random(), under_way=under_way)
        self._line.append(row)
        self._step(now)
