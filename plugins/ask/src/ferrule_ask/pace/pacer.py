"""What a request waits for: its turn, at a pace that the provider allows."""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ferrule_ask.pace.bucket import OUTPUT, REQUESTS, Bucket, State
from ferrule_ask.pace.clock import Clock

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferrule_ask.pace.stated_limits import StatedLimit
    from ferrule_ask.pace.store import Store

_MARGIN_SECONDS = 0.001  # by which a timer may be early


class TurnTooLate(Exception):
    """The turn would come too late. seconds: from now. per_minute: the requests of a minute, None where unknown."""

    def __init__(self, seconds: float, per_minute: float | None) -> None:
        super().__init__(f"{seconds:.0f} seconds")
        self.seconds = seconds
        self.per_minute = per_minute


class Need(NamedTuple):
    """What a request takes. input: tokens, estimated. output: the most that it may write."""

    input: int = 0
    output: int = 0


class Pace(NamedTuple):
    """Limits of the user's own for a minute; None for those that the provider tells."""

    requests: float | None = None
    tokens: float | None = None

    @property
    def limits(self) -> Mapping[str, float]:
        """By the names of their buckets."""
        return {name: one for name, one in ((REQUESTS, self.requests), ("tokens", self.tokens)) if one}


class Pacer:
    """The turns of all that ask with one key, in this process and in others.

    store: keeps the state. pace: limits of the user's own. open: the turns of this process that have no answer yet, and
    the instant of each. own: the names of the buckets of the user's limits.
    """

    def __init__(self, store: Store, clock: Clock | None = None, pace: Pace | None = None) -> None:
        self._store = store
        self._clock = clock or Clock()
        self._own = (pace or Pace()).limits
        self._waiting = 0
        self.own: set[str] = set()
        self.open: dict[int, float] = {}
        self._line = asyncio.Lock()

    async def take(self, need: Need, longest: float, waits: Callable[[float], None] = lambda seconds: None) -> Turn:
        """Wait for the next turn. Raises TurnTooLate where it comes after so many seconds, and takes none then.

        Those that wait as long as it takes stand in line, so that what is learnt meanwhile counts for the next one. Who
        has less time takes its turn ahead, to know at once whether that comes in time.

        Args:
            waits: gets the seconds of each wait.
        """
        if longest < math.inf:
            return await self._take(need, longest, waits)
        async with self._line:
            return await self._take(need, longest, waits)

    async def _take(self, need: Need, longest: float, waits: Callable[[float], None]) -> Turn:
        turn, left = Turn(self, self._clock), longest
        while True:
            seconds = await self._update(lambda state, now, left=left: turn.take(state, now, need, left))  # type: ignore[misc] # mypy cannot infer a default's type
            if seconds <= 0:
                return turn
            waits(seconds)
            self._waiting += 1
            try:
                await self._clock.sleep(seconds + _MARGIN_SECONDS)
            except BaseException:
                back = self._update(lambda state, now: turn.give_back(state))
                await (asyncio.shield(back) if self._store.is_far else back)  # at once, where that is possible
                raise
            finally:
                self._waiting -= 1
            left -= seconds
            # What was learnt meanwhile may have put all turns off.
            if not await self._update(lambda state, now: turn.is_put_off(state, now)):
                return turn

    def close(self) -> None:
        """Hang up; the next turn connects again."""
        self._store.close()

    async def _update(self, change: Callable[[State, float], float]) -> float:
        """Change the state; what `change` returns."""
        found = 0.0

        def replace(data: bytes, now: float) -> bytes:
            nonlocal found
            state = State.read(data, now)
            self.own = state.limit(now, self._own)
            found = change(state, now)
            return state.write(now)

        if self._store.is_far:
            from ferrule_ask.loop_thread import in_thread

            await in_thread(lambda: self._store.update(replace))
        else:
            self._store.update(replace)
        return found

    async def block(self, seconds: float | None) -> float:
        """Take no turn for so many seconds; None where it is not known how long. Returns the seconds."""
        chance = random.random()  # noqa: S311 - it spreads, and protects nothing

        def refuse(state: State, now: float) -> float:
            begun = sum(state.accepted[1] <= start <= now for start in self.open.values())
            has_own = any(name.endswith(REQUESTS) for name in self.own)
            waiting, under_way = self._waiting, max(0, begun - 1)  # of which one is the refused one
            return state.refuse(now, seconds, waiting=waiting, chance=chance, under_way=under_way, has_own=has_own)

        return await self._update(refuse)


class Turn:
    """One turn that was taken. After the request, `learn`, `refused` or `cancel` is due as it applies, then `end`."""

    def __init__(self, pacer: Pacer, clock: Clock) -> None:
        self._pacer = pacer
        self._clock = clock
        self._amounts: dict[str, float] = {}
        self._number = 0
        self._start = 0.0

    def take(self, state: State, now: float, need: Need, longest: float) -> float:
        """Take it from the state; the seconds until it comes."""
        output = min(need.output, state.output * 1.5) if state.output else need.output
        amounts = {REQUESTS: 1.0, "input-tokens": need.input, OUTPUT: output, "tokens": need.input + output}
        seconds = state.wait(now, amounts, self._pacer.own)
        if seconds > longest:
            heeded = [REQUESTS, *(name for name in self._pacer.own if name.endswith(REQUESTS))]
            requests = [state.buckets[name].per_minute for name in heeded if name in state.buckets]
            raise TurnTooLate(seconds, min(requests, default=None))
        state.take(amounts)
        self._amounts, self._number, self._start = amounts, state.turns, now + seconds
        self._pacer.open[self._number] = self._start
        return seconds

    def is_put_off(self, state: State, now: float) -> float:
        """1 where the provider has refused since, by which it is given back, and has to be taken again; else 0."""
        if state.blocked <= max(now, self._start):
            return 0.0
        self.give_back(state)
        return 1.0

    def give_back(self, state: State) -> float:
        """It was not used."""
        state.take(self._amounts, -1.0)
        self.end()
        return 0.0

    def end(self) -> None:
        """It is over, whatever came of it."""
        self._pacer.open.pop(self._number, None)

    async def learn(self, limits: Sequence[StatedLimit], output: int | None) -> None:
        """Learn from an answer that was no refusal, and tells these limits.

        Args:
            output: tokens that it had, None where that is not known.
        """

        def change(state: State, now: float) -> float:
            state.accept(now, self._start)
            self._tell(state, now, limits)
            self._settle(state.buckets, output)
            if output is not None:
                state.output = output if not state.output else state.output * 0.9 + output * 0.1
            return 0.0

        await self._pacer._update(change)

    async def refused(self, limits: Sequence[StatedLimit], seconds: float | None) -> float:
        """The provider refused, for so many seconds; all turns are put off. Returns for how many seconds."""
        await self._pacer._update(lambda state, now: self._tell(state, now, limits))
        return await self._pacer.block(seconds)

    async def cancel(self) -> None:
        """Give it back: nothing has reached the provider."""
        await self._pacer._update(lambda state, now: self.give_back(state))

    def _tell(self, state: State, now: float, limits: Sequence[StatedLimit]) -> float:
        # All that was taken later, by whomever, and what this process took before and has no answer to yet.
        turns = max(0, state.turns - self._number) + sum(one < self._number for one in self._pacer.open)
        for one in limits:
            state.tell(now, one.name, one.limit, one.left, uncounted=turns * self._amounts.get(one.name, 0.0))
        return 0.0

    def _settle(self, buckets: Mapping[str, Bucket], output: int | None) -> None:
        """Give back what was taken for an answer that became shorter; a provider that tells what is left knows it."""
        if output is None:
            return
        saved = self._amounts[OUTPUT] - output
        for name in buckets:
            if name == OUTPUT or (name.endswith("tokens") and "input" not in name):
                buckets[name].level = min(buckets[name].capacity, buckets[name].level + saved)
