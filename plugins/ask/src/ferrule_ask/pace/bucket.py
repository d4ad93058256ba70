"""What is known of a provider's limits: buckets of requests and tokens that are filled again as time goes. Pure.

A bucket holds so much for one minute and is filled evenly. What is taken may leave it below zero: then those who have
taken wait for their turns, one after the other.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONObject

REQUESTS, OUTPUT = "requests", "output-tokens"
MINUTE_SECONDS = 60.0
MAX_BLOCK_SECONDS = 86_400.0  # a server that names more has a clock that goes wrong
_OLD_SECONDS = 600.0  # after which what was learnt says nothing any more
_FIRST_BACKOFF_SECONDS, _MAX_BACKOFF_SECONDS = 0.5, 60.0
_PROBE_PER_MINUTE = 120.0  # after the first refusal; it doubles with each request until the next one
_MOST_PER_MINUTE = 60_000.0
_RISE_REQUESTS = 2  # after which, and a third of its evidence more, a guess rises that is not refused
_MOST_EVIDENCE_REQUESTS = 30  # that a guess rests on: what was seen before counts less and less
_FEW = 0.5  # of what a guess lets through: who takes less than this share has learnt nothing about the limit
_LEAST_COUNT, _LEAST_SECONDS = 0.7, 0.01  # where nothing was taken, and where a clock stands still
_DOUBTED_REFUSALS = 3  # in a row, after which a limit of the user's own is not believed any more
_MIN_BURST_SHARE = 1 / 12  # of a limit of the user's own that may go at once: five seconds' worth
_OWN = "own-"  # before the limit and the name of a bucket that a user has set


@dataclass
class Bucket:
    """One limit. level: what is in it at the instant `at`.

    is_guess: the provider did not name it. evidence: requests that a guess rests on, 0 while it is looked for.
    """

    per_minute: float
    capacity: float
    level: float
    at: float
    is_guess: bool = False
    evidence: float = 0.0

    def refill(self, now: float) -> None:
        """Let the time pass."""
        if now > self.at:
            self.level = min(self.capacity, self.level + (now - self.at) * self.per_minute / MINUTE_SECONDS)
            self.at = now

    def wait(self, amount: float) -> float:
        """Seconds until so much can be taken. What is more than it can ever hold waits until it is full."""
        return max(0.0, (min(amount, self.capacity) - self.level) * MINUTE_SECONDS / self.per_minute)


@dataclass
class State:
    """What is known. blocked: the instant before which nothing is taken.

    refusals: how often in a row the provider has refused. turns: how many were taken so far. accepted: the number of
    requests that were begun and not refused since the provider had no room the last time, and that instant; 0.0 for one
    that was never seen so. risen: of these, how many there were when the guess rose last. output: tokens that an answer
    has, about.
    """

    buckets: dict[str, Bucket] = field(default_factory=dict)
    blocked: float = 0.0
    refusals: int = 0
    turns: int = 0
    accepted: list[float] = field(default_factory=lambda: [0.0, 0.0])
    risen: float = 0.0
    output: float = 0.0
    touched: float = 0.0

    @classmethod
    def read(cls, data: bytes, now: float) -> State:
        """The state that was written; an empty one where it says nothing, or nothing that still counts."""
        try:
            facts = json.loads(data)
            if not isinstance(facts, dict):
                return cls()
            named = {str(name): Bucket(*values) for name, values in facts.pop("buckets").items()}
            state = cls(named, **facts)
            numbers = [state.blocked, state.touched, state.output, state.risen, *state.accepted]
            for one in named.values():
                numbers += [one.per_minute, one.capacity, one.level, one.at, one.evidence]
            if not all(isinstance(number, int | float) for number in numbers) or any(
                one.per_minute <= 0 or one.at > now + _OLD_SECONDS for one in named.values()
            ):
                return cls()
        except (ValueError, TypeError, KeyError, AttributeError):
            return cls()
        is_old = not -_OLD_SECONDS < now - max(state.touched, state.blocked) < _OLD_SECONDS
        if is_old and not now < state.blocked < now + MAX_BLOCK_SECONDS:
            return cls()
        return state

    def write(self, now: float) -> bytes:
        """The state as JSON."""
        self.touched = now
        facts: JSONObject = {name: value for name, value in vars(self).items() if name != "buckets"}
        facts["buckets"] = {name: list(vars(one).values()) for name, one in self.buckets.items()}
        return json.dumps(facts).encode()

    def limit(self, now: float, own: Mapping[str, float]) -> set[str]:
        """Heed limits that a user has set, for a minute, by their names; the names of their buckets.

        Programs may have set others, whose buckets stay: what is taken here counts there.
        """
        names = {f"{_OWN}{per_minute:g}-{name}": per_minute for name, per_minute in own.items()}
        for name in [one for one in self.buckets if one.startswith(_OWN)]:
            self.buckets[name].refill(now)
            if name not in names and self.buckets[name].level >= self.buckets[name].capacity:
                del self.buckets[name]
        for name, per_minute in names.items():
            burst = max(1.0, per_minute * _MIN_BURST_SHARE)
            self.buckets.setdefault(name, Bucket(per_minute, burst, burst, now))
        return set(names)

    def wait(self, now: float, amounts: Mapping[str, float], own: Collection[str] = ()) -> float:
        """Seconds until the next turn of one who wants so much, by the names of the buckets. own: those of the user."""
        waits = [self.blocked - now]
        for name, bucket in self.buckets.items():
            if name.startswith(_OWN) and name not in own:
                continue
            bucket.refill(now)
            waits.append(bucket.wait(_amount(name, amounts)))
        return max(0.0, *waits)

    def take(self, amounts: Mapping[str, float], times: float = 1.0) -> None:
        """Take so much from the buckets; with -1 times, give it back."""
        for name, bucket in self.buckets.items():
            bucket.level = min(bucket.capacity, bucket.level - _amount(name, amounts) * times)
        self.turns += 1 if times > 0 else 0

    def accept(self, now: float, begun: float) -> None:
        """A request was not refused. begun: the instant of its turn."""
        if now >= self.blocked:
            self.refusals = 0
        if begun < self.accepted[1]:
            return  # it took what was there before
        self.accepted[0] += 1
        guess = self.buckets.get(REQUESTS)
        if guess is None or not guess.is_guess:
            return
        enough = _RISE_REQUESTS + guess.evidence / 3 if guess.evidence else 1
        if self.accepted[0] - self.risen >= enough:
            self.risen = self.accepted[0]
            rise = 1 + 1 / (2 + guess.evidence) if guess.evidence else 2.0
            guess.per_minute = min(_MOST_PER_MINUTE, guess.per_minute * rise)

    def tell(self, now: float, name: str, limit: float, left: float, *, uncounted: float) -> None:
        """The provider said what a bucket holds.

        Args:
            uncounted: the most that was taken and that it may not know of yet.
        """
        known = self.buckets.get(name)
        if known is None or known.is_guess or known.per_minute != limit:
            self.buckets[name] = Bucket(limit, limit, left - uncounted, now)
        else:
            known.refill(now)
            known.level = max(left - uncounted, min(known.level, left))

    def refuse(
        self,
        now: float,
        seconds: float | None,
        *,
        waiting: int,
        chance: float = 0.0,
        under_way: int = 0,
        has_own: bool = False,
    ) -> float:
        """The provider refused one request more. Returns the seconds for which nothing is taken.

        Args:
            seconds: for which it says so, None where it says nothing.
            waiting: turns that are taken and not yet used.
            chance: from 0 to 1, by which those that wait do not all come back at once.
            under_way: requests that were begun since the last refusal and have no answer yet.
            has_own: whether the user has set a limit of requests.
        """
        is_new = now >= self.blocked
        self.refusals += is_new
        backoff = min(_MAX_BACKOFF_SECONDS, _FIRST_BACKOFF_SECONDS * 2.0 ** min(max(self.refusals - 1, 0), 30))
        least = min(1.0, 0.1 * 2.0 ** min(self.refusals - 1, 4))  # "at once", again and again, must not make a loop
        block = min(max(seconds, least) if seconds else backoff * (1 - chance / 4), MAX_BLOCK_SECONDS)
        self.blocked = max(self.blocked, now + block)
        if REQUESTS in self.buckets:
            self.buckets[REQUESTS].refill(now)  # at the pace that was kept until now
        if is_new:
            self._learn(now, block, under_way, is_believed=has_own and self.refusals < _DOUBTED_REFUSALS)
        requests = self.buckets.get(REQUESTS)
        if requests:
            there = 1 - (self.blocked - now) * requests.per_minute / MINUTE_SECONDS - waiting
            # Where it says when, one may go then, whatever is guessed.
            requests.level = there if seconds and requests.is_guess else min(requests.level, there)
        return block

    def _learn(self, now: float, block: float, under_way: int, *, is_believed: bool) -> None:
        """Learn from a refusal: the provider has no room at this instant.

        Args:
            block: seconds for which nothing is taken now.
            under_way: see `refuse`.
            is_believed: whether a limit of the user's own is, so that none is guessed.
        """
        requests, since = self.buckets.get(REQUESTS), self.accepted[1]
        count = self.accepted[0] + under_way
        if requests is None and not is_believed:
            # What went through so far went at once, for all that is known.
            pace = min(_MOST_PER_MINUTE, max(_PROBE_PER_MINUTE, MINUTE_SECONDS / block))
            self.buckets[REQUESTS] = Bucket(pace, max(1.0, self.accepted[0]), 0.0, now, is_guess=True)
        elif requests is not None and requests.is_guess:
            self._guess(requests, count, now - since)
            if not count:
                return  # so that the next one is measured from the same instant
        elif requests is not None and requests.level >= 1:
            requests.capacity = max(1.0, requests.capacity / 2)  # it takes fewer at once than in a minute
        self.accepted, self.risen = [0.0, now], 0.0

    def _guess(self, bucket: Bucket, count: float, seconds: float) -> None:
        """Of a bucket that was empty at both ends of a time: so much was filled as was taken, give or take one."""
        seen = max(count, _LEAST_COUNT) * MINUTE_SECONDS / max(seconds, _LEAST_SECONDS)
        if not count:  # less than one
            bucket.per_minute = min(bucket.per_minute, seen)
        elif bucket.evidence and count < _FEW * bucket.per_minute * seconds / MINUTE_SECONDS:
            bucket.capacity = max(1.0, count)  # it was full meanwhile, and went over
        else:
            known = bucket.evidence
            bucket.per_minute = (bucket.per_minute * known + seen * count) / (known + count)
            bucket.evidence = min(known + count, _MOST_EVIDENCE_REQUESTS)


def _amount(name: str, amounts: Mapping[str, float]) -> float:
    return amounts.get(name.split("-", 2)[2] if name.startswith(_OWN) else name, 0.0)
