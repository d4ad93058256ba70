"""Limits that are never passed, however many questions run at once: the worst case is reserved before a request."""

from __future__ import annotations

import asyncio
import os
import threading
import weakref
from collections.abc import Sequence
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
        (reservation,) = await self.reserve_all([cost])
        return reservation

    async def reserve_all(self, costs: Sequence[Decimal | None]) -> list[Reservation]:
        """Reserve several requests together or none, as `reserve` does one."""
        worst = [cost or _ZERO for cost in costs]
        while True:
            with self._lock:
                if self._fits(worst):
                    return [self._reserve(one) for one in worst]
                if not self._may_fit(worst):
                    raise LimitReached(self._why(worst))
                loop = asyncio.get_running_loop()
                turn: asyncio.Future[None] = loop.create_future()
                self._waiting.append((loop, turn))
            await turn

    def _reserve(self, worst: Decimal) -> Reservation:
        self._next += 1
        self._reserved[self._next] = worst
        return Reservation(self, self._next, worst)

    def _fits(self, worst: Sequence[Decimal]) -> bool:
        spent = self._used + sum(self._reserved.values(), _ZERO) + sum(worst, _ZERO)
        return self._takes(self.calls_used + len(worst), spent)

    def _may_fit(self, worst: Sequence[Decimal]) -> bool:
        """Whether they would fit if all that is under way cost nothing; the lock is held."""
        # A request under way gives its place back only where it is never sent, or never reaches the server.
        return bool(self._reserved) and self._takes(self._calls_used + len(worst), self._used + sum(worst, _ZERO))

    def _takes(self, calls: int, spent: Decimal) -> bool:
        return (self.calls is None or calls <= self.calls) and (self.spend is None or spent <= self.spend)

    def _why(self, worst: Sequence[Decimal]) -> str:
        left = 0 if self.calls is None else self.calls - self.calls_used
        if self.calls is not None and left < len(worst):
            if left > 0:
                there = "1 is" if left == 1 else f"{left} are"
                return (
                    f"Of the limit of {self.calls} calls {there} left, and a question that may call a tool takes "
                    f"{len(worst)}. Raise the limit, or offer no tool."
                )
            return f"The limit of {self.calls} calls is reached. Raise it, or make new limits."
        dollars = max(_ZERO, (self.spend or _ZERO) - self._used)
        what = "the next request" if len(worst) == 1 else "the next question with a call of a tool"
        return (
            f"Of the limit of {self.spend} dollars {_dollars(dollars)} are left, and {what} might cost "
            f"{_dollars(sum(worst, _ZERO))}. Raise the limit, or ask for fewer max_tokens."
        )

    def _renew(self, number: int, worst: Decimal) -> int:
        """Reserve anew for a further try, without waiting; the number. Raises LimitReached."""
        with self._lock:
            held = self._reserved.pop(number, None)
            if held is None and not self._fits([worst]):
                raise LimitReached(self._why([worst]))
            self._next += 1
            self._reserved[self._next] = worst
            return self._next

    def _fail(self, number: int, cost: Decimal | None, *, counts: bool) -> None:
        """Count a try, and keep its place for the next one, as far as the limits allow that."""
        with self._lock:
            worst = self._reserved.get(number)
            if worst is None or not counts:
                return
            spent = worst if cost is None else cost
            self._calls_used += 1
            self._used += spent
            all_reserved = sum(self._reserved.values(), _ZERO)
            if self._takes(self.calls_used, self._used + all_reserved):
                return
        self._settle(number, _ZERO, counts=False)  # there is no room for another try

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

    __slots__ = ("_limits", "_number", "_worst")

    def __init__(self, limits: Limits, number: int, worst: Decimal) -> None:
        self._limits = limits
        self._number = number
        self._worst = worst

    def settle(self, cost: Decimal | None) -> None:
        """It cost so much; None where that is not known, and the worst case counts."""
        self._limits._settle(self._number, cost, counts=True)

    def lose(self) -> None:
        """It may have reached the server, and nothing is known of it: the worst case counts."""
        self._limits._settle(self._number, None, counts=True)

    def fail(self, cost: Decimal | None, *, counts: bool = True) -> None:
        """A try that may be repeated has failed: count it, and keep the place for `renew`. Release it without that.

        cost: of the try, None for its worst case. counts: False where it cannot have reached the server.
        """
        self._limits._fail(self._number, cost, counts=counts)

    def renew(self) -> None:
        """Make sure of the place for a further try; waits for nobody. Raises LimitReached."""
        self._number = self._limits._renew(self._number, self._worst)

    def release(self) -> None:
        """It has never been sent, or is not sent again."""
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
