"""Limits that are never passed, however many questions run at once: the worst case is reserved before a request."""

from __future__ import annotations

import asyncio
import os
import threading
import weakref
from decimal import Decimal

_ZERO = Decimal(0)


class LimitReached(Exception):
    """A request more might pass the limits. Its only argument is a sentence that says which."""


class Limits:
    """Limits on the requests to the model and on what they cost, for all clients that share them.

    calls: requests that may have reached the model, each try counted; None for any number. spend: US dollars; None for
    any amount. A request without an answer (timeout, broken connection, cancelled) counts as its worst case, since the
    server may have done the work. Of what a failure that the server reports costs, nothing counts as spent.

    Usable from several threads and event loops. After a fork each process counts for itself, and what was under way in
    the parent counts as spent in the child.
    """

    def __init__(self, calls: int | None = None, spend: float | str | Decimal | None = None) -> None:
        if calls is not None and calls < 0:
            raise ValueError("calls has to be None or a number from 0")
        cap = None if spend is None else Decimal(str(spend))
        if cap is not None and not (cap.is_finite() and cap >= 0):
            raise ValueError("spend has to be None or an amount from 0")
        self.calls = calls
        self.spend = cap
        self._calls_used = 0
        self._used = _ZERO
        self._reserved: dict[int, Decimal] = {}
        self._next = 0
        self._waiting: list[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = []
        self._lock = threading.Lock()
        _ALL.add(self)

    def __repr__(self) -> str:
        return f"Limits(calls={self.calls}, spend={self.spend}; used {self._calls_used} calls, {self._used} dollars)"

    @property
    def calls_used(self) -> int:
        """Requests that count, those under way included."""
        return self._calls_used + len(self._reserved)

    @property
    def spent(self) -> float:
        """US dollars that count: as reported, else the worst case, as it does for what is under way."""
        return float(self._used + sum(self._reserved.values(), _ZERO))

    async def reserve(self, cost: Decimal | None) -> Reservation:
        """Reserve one request that costs so much at the most; wait for those under way where they may leave room.

        cost: None where the price is not known, which only limits without `spend` take. Raises LimitReached.
        """
        worst = cost or _ZERO
        while True:
            with self._lock:
                if self._fits(worst):
                    self._next += 1
                    self._reserved[self._next] = worst
                    return Reservation(self, self._next)
                if not self._may_fit(worst):
                    raise LimitReached(self._why(worst))
                loop = asyncio.get_running_loop()
                turn: asyncio.Future[None] = loop.create_future()
                self._waiting.append((loop, turn))
            await turn

    def _fits(self, worst: Decimal) -> bool:
        return self._takes(self.calls_used + 1, self._used + sum(self._reserved.values(), _ZERO) + worst)

    def _may_fit(self, worst: Decimal) -> bool:
        """Whether it would fit if all that is under way cost nothing; the lock is held."""
        # A request under way gives its place back only where it never reached the server.
        return bool(self._reserved) and self._takes(self._calls_used + 1, self._used + worst)

    def _takes(self, calls: int, spent: Decimal) -> bool:
        return (self.calls is None or calls <= self.calls) and (self.spend is None or spent <= self.spend)

    def _why(self, worst: Decimal) -> str:
        if self.calls is not None and self.calls_used + 1 > self.calls:
            return f"The limit of {self.calls} calls is reached. Raise `calls`, or make new limits."
        left = max(_ZERO, (self.spend or _ZERO) - self._used)
        return (
            f"Of the limit of {self.spend} dollars {_dollars(left)} are left, and the next request might cost "
            f"{_dollars(worst)}. Raise `spend`, or ask for fewer max_tokens."
        )

    def _settle(self, number: int, cost: Decimal | None, *, counts: bool) -> None:
        with self._lock:
            worst = self._reserved.pop(number, None)
            if worst is None:
                return
            if counts:
                self._calls_used += 1
                self._used += worst if cost is None else cost
            waiting, self._waiting = self._waiting, []
        for loop, turn in waiting:
            try:
                loop.call_soon_threadsafe(_wake, turn)
            except RuntimeError:  # its loop has been closed
                pass

    def _forked(self) -> None:
        self._lock = threading.Lock()  # a thread that is not in this process may have held it
        self._waiting = []
        reserved, self._reserved = self._reserved, {}
        self._calls_used += len(reserved)
        self._used += sum(reserved.values(), _ZERO)


class Reservation:
    """The place of one request within the limits. Has to be settled, in one of three ways; the first one counts."""

    __slots__ = ("_limits", "_number")

    def __init__(self, limits: Limits, number: int) -> None:
        self._limits = limits
        self._number = number

    def settle(self, cost: Decimal | None) -> None:
        """It cost so much; None where that is not known, and the worst case counts."""
        self._limits._settle(self._number, cost, counts=True)

    def lose(self) -> None:
        """It may have reached the server, and nothing is known of it: the worst case counts."""
        self._limits._settle(self._number, None, counts=True)

    def release(self) -> None:
        """It has never been sent."""
        self._limits._settle(self._number, _ZERO, counts=False)


def _wake(turn: asyncio.Future[None]) -> None:
    if not turn.done():
        turn.set_result(None)


def _dollars(amount: Decimal) -> str:
    return f"{amount:.6f}".rstrip("0").rstrip(".") or "0"


_ALL: weakref.WeakSet[Limits] = weakref.WeakSet()


def _after_fork() -> None:
    for limits in list(_ALL):
        limits._forked()


os.register_at_fork(after_in_child=_after_fork)
