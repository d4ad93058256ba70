"""One call of the model: a request, its retries, and a response, all within a hard deadline."""

from __future__ import annotations

import asyncio
import random
import time
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

from ferrule_ask import errors, messages
from ferrule_ask.errors import CallFailed
from ferrule_ask.limits import LimitReached, Reservation

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from tenacity import RetryCallState

    from ferrule_ask.messages import Reply
    from ferrule_ask.transport import Transport

TRIES = 3
_FIRST_WAIT_SECONDS, _MAX_WAIT_SECONDS, _JITTER = 0.5, 8.0, 0.25


class Call(NamedTuple):
    """What is to be sent. cost_of: US dollars for a reply, None where its price is not known or it does not report it.

    reserve: makes room within the limits, once for each try. retried: takes the seconds of a wait and the code.
    """

    url: str
    headers: Mapping[str, str]
    body: bytes
    secret: str
    reserve: Callable[[], Awaitable[Reservation]]
    cost_of: Callable[[Reply], Decimal | None]
    retried: Callable[[float, str], None]


async def send(call: Call, transport: Transport, seconds: float) -> Reply:
    """Send the request, as often as its failures allow and the time lasts. Raises CallFailed or LimitReached.

    The clock stands still where the call waits for room within the limits.
    """
    import tenacity

    transport.connect(call.url)  # before the clock runs: no budget is for imports
    step = _Step(call, seconds)
    retrying = tenacity.AsyncRetrying(retry=step.may_repeat, wait=step.wait, sleep=step.pause, reraise=True)
    return await retrying(_once, call, transport, step)


class _Step:
    """What is left of a step's time, and why its last try failed."""

    def __init__(self, call: Call, seconds: float) -> None:
        self.seconds = self.left = seconds
        self.failure: CallFailed | None = None
        self._call = call
        self._wait = 0.0

    def may_repeat(self, state: RetryCallState) -> bool:
        """Whether there is reason and time for another try."""
        failure = state.outcome.exception() if state.outcome else None
        if not isinstance(failure, CallFailed) or not failure.may_repeat or state.attempt_number >= TRIES:
            return False
        self.failure = failure
        longest = min(_FIRST_WAIT_SECONDS * 2 ** (state.attempt_number - 1), _MAX_WAIT_SECONDS)
        pause = longest * (1 - _JITTER * random.random())  # noqa: S311
        self._wait = failure.retry_after or pause
        return self._wait < self.left

    def wait(self, _: RetryCallState) -> float:
        """Seconds until the next try."""
        return self._wait

    async def pause(self, seconds: float) -> None:
        """Wait for the next try."""
        if self.failure is not None:
            self._call.retried(seconds, self.failure.code)
        self.left -= seconds
        await asyncio.sleep(seconds)


async def _once(call: Call, transport: Transport, step: _Step) -> Reply:
    try:
        reservation = await call.reserve()
    except LimitReached:
        if step.failure is not None:
            raise step.failure from None  # which says more
        raise
    started = time.monotonic()
    try:
        async with asyncio.timeout(step.left):
            reply = await _exchange(call, transport)
    except TimeoutError:
        reservation.lose()
        raise errors.too_late(step.seconds, step.failure) from None
    except CallFailed as failure:
        _settle(reservation, failure)
        raise
    except BaseException:  # cancelled: what the server makes of it is not known
        reservation.lose()
        raise
    finally:
        step.left -= time.monotonic() - started
    reservation.settle(call.cost_of(reply))
    return reply


def _settle(reservation: Reservation, failure: CallFailed) -> None:
    if failure.was_sent is False:
        reservation.release()
    elif failure.status is None:  # it broke, or what came was no message
        reservation.lose()
    else:
        reservation.settle(Decimal(0))


async def _exchange(call: Call, transport: Transport) -> Reply:
    response = await transport.post(call.url, call.headers, call.body)
    if response.status != 200:
        raise errors.refusal(response, call.secret)
    try:
        return messages.read(response.body, response.headers.get("request-id"))
    except messages.MessageUnreadable as error:
        raise errors.unreadable(response, str(error), call.secret) from None
