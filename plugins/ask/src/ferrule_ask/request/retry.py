"""One call of the model: its turn, a request, its retries, and a response, all within a hard deadline."""

from __future__ import annotations

import asyncio
import random
import time
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

from ferrule_ask.cost.limits import LimitReached, Reservation
from ferrule_ask.models.dialogue import ErrorEvent, MessageUnreadable, ModelFailed, Response
from ferrule_ask.models.json_text import encode
from ferrule_ask.models.provider import LocalModels
from ferrule_ask.pace.pacer import Need, TurnTooLate
from ferrule_ask.request import errors
from ferrule_ask.request.errors import CallFailed
from ferrule_ask.request.transport import EVENTS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tenacity import RetryCallState

    from ferrule_ask.models.dialogue import Reply
    from ferrule_ask.models.provider import Provider, Streaming
    from ferrule_ask.pace.pacer import Pacer, Turn
    from ferrule_ask.request.patience import Patience
    from ferrule_ask.request.transport import Transport

TRIES = 3
_FIRST_WAIT_SECONDS, _MAX_WAIT_SECONDS, _JITTER = 0.5, 8.0, 0.25
_MAX_PATIENT_WAIT_SECONDS = 60.0
_LEAST_TOLD_SECONDS = 1.0  # a shorter wait for a turn is not worth a word


class Call(NamedTuple):
    """What is to be sent. cost_of: US dollars for a reply, None where its price is not known or it does not report it.

    reservation: its room within the limits. sending: is called before each try. pacer: says when the turn of a request
    is. need: what it takes of the pace. patience: what it may wait for its turns, beside the step's time. retried:
    takes the seconds of a wait and the code. waits: takes the seconds of a wait for the turn. streaming: where the
    answer is to come in pieces, which the body asks for. said: takes the text of each piece.
    """

    provider: Provider
    url: str
    headers: Mapping[str, str]
    body: bytes
    secret: str
    reservation: Reservation
    sending: Callable[[], None]
    cost_of: Callable[[Reply], Decimal | None]
    pacer: Pacer
    need: Need
    patience: Patience
    retried: Callable[[float, str], None]
    waits: Callable[[float], None]
    streaming: Streaming | None = None
    said: Callable[[str], None] = lambda text: None


async def send(call: Call, transport: Transport, seconds: float) -> Reply:
    """Send the request, as often as its failures allow and the time lasts. Raises CallFailed or LimitReached.

    The clock stands still where the call waits for its turn and has patience of its own for that.
    """
    import tenacity

    if not isinstance(call.provider, LocalModels):
        transport.prepare(call.url, call.provider.base_url_variable)  # before the clock runs: no budget is for imports
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
        self._faults = 0

    def may_repeat(self, state: RetryCallState) -> bool:
        """Whether there is reason and time for another try."""
        failure = state.outcome.exception() if state.outcome else None
        if not isinstance(failure, CallFailed) or not failure.may_repeat:
            return False
        patience, is_patient = self._call.patience, failure.is_busy and self._call.patience.is_own
        self._faults += not is_patient
        if self._faults >= TRIES:
            return False
        self.failure = failure
        wait = self._seconds(failure, state.attempt_number, is_patient=is_patient)
        if not (wait <= patience.left if is_patient else wait < self.left):
            return False
        try:
            self._call.reservation.renew()
        except LimitReached:
            return False
        # Where the pace says when the turn is, it is waited for there.
        self._wait = 0.0 if failure.is_paced else wait
        self._call.retried(wait, failure.code)
        return True

    def wait(self, _: RetryCallState) -> float:
        """Seconds until the next try."""
        return self._wait

    async def pause(self, seconds: float) -> None:
        """Wait for the next try."""
        if self.failure is not None and self.failure.is_busy and self._call.patience.is_own:
            await self._call.patience.sleep(seconds)
        else:
            self.left -= seconds
            await asyncio.sleep(seconds)

    async def turn(self) -> Turn:
        """Wait for the turn of the next try. Raises CallFailed where it comes too late."""
        patience = self._call.patience
        longest = patience.left if patience.is_own else self.left
        started = time.monotonic()
        try:
            with patience.used():
                return await self._call.pacer.take(self._call.need, longest, self._told)
        except TurnTooLate as late:
            raise self.failure or errors.no_turn(late.seconds, late.per_minute) from None
        finally:
            if not patience.is_own:
                self.left -= time.monotonic() - started

    def _told(self, seconds: float) -> None:
        if seconds >= _LEAST_TOLD_SECONDS and self.failure is None:
            self._call.waits(seconds)

    def _seconds(self, failure: CallFailed, number: int, *, is_patient: bool) -> float:
        if failure.retry_after:
            return failure.retry_after
        longest: float = _MAX_PATIENT_WAIT_SECONDS if is_patient else _MAX_WAIT_SECONDS
        pause = min(_FIRST_WAIT_SECONDS * 2.0 ** min(number - 1, 30), longest)
        return pause * (1 - _JITTER * random.random())  # noqa: S311 - it spreads, and protects nothing


async def _once(call: Call, transport: Transport, step: _Step) -> Reply:
    turn = await step.turn()
    reservation = call.reservation
    call.sending()
    started = time.monotonic()
    try:
        async with asyncio.timeout(max(0.0, step.left)):
            reply = await _exchange(call, transport, turn)
    except TimeoutError:
        reservation.lose()
        raise errors.too_late(step.seconds, step.failure) from None
    except CallFailed as failure:
        _settle(reservation, failure)
        if not failure.was_sent:
            await turn.cancel()
        raise
    except BaseException:  # cancelled: what the server makes of it is not known
        reservation.lose()
        raise
    finally:
        turn.end()
        step.left -= time.monotonic() - started
    reservation.settle(call.cost_of(reply))
    return reply


def _settle(reservation: Reservation, failure: CallFailed) -> None:
    """Count a try that failed; one that may be repeated keeps its place, until it is known whether it is."""
    if failure.was_sent is False:
        reservation.fail(None, counts=False)
    elif failure.status is None:  # it broke, or what came was no message
        reservation.lose() if not failure.may_repeat else reservation.fail(None)
    else:
        reservation.fail(Decimal(0))


async def _exchange(call: Call, transport: Transport, turn: Turn) -> Reply:
    provider = call.provider
    response, is_begun = await _response(call, transport)
    limits = list(provider.limits(response.headers))
    if response.status != 200:
        failure = errors.refusal(response, call.secret, provider)
        if is_begun:
            failure.status = None  # it has cost what it had answered by then
        if response.status == 429 and failure.code == "RATE_LIMIT":
            failure.retry_after, failure.is_paced = await turn.refused(limits, failure.retry_after), True
        elif not failure.is_busy:
            await turn.learn(limits, None)  # it failed for another reason than the pace
        raise failure
    try:
        reply = provider.read(response)
    except MessageUnreadable as error:
        raise errors.unreadable(response, str(error), call.secret, provider) from None
    await turn.learn(limits, reply.usage.output if reply.usage else None)
    return reply


async def _local(models: LocalModels, body: bytes) -> Response:
    try:
        return await models.post(body)
    except ModelFailed as failure:
        repeats, was_sent = failure.may_repeat, failure.was_sent
        raise CallFailed(failure.code, str(failure), may_repeat=repeats, was_sent=was_sent) from None


async def _response(call: Call, transport: Transport) -> tuple[Response, bool]:
    """The response, and whether it is one that ended after it had begun. What comes in pieces is put together."""
    named = call.provider.base_url_variable
    if isinstance(call.provider, LocalModels):
        return await _local(call.provider, call.body), False
    if call.streaming is None:
        return await transport.post(call.url, call.headers, call.body, named), False
    assembly, pieces = call.streaming.assembly(), 0

    def take(data: str) -> None:
        nonlocal pieces
        pieces += 1
        text = assembly.take(data)
        if text:
            call.said(text)

    headers = {**call.headers, "accept": f"{EVENTS}, application/json"}
    try:
        response = await transport.stream(call.streaming.url(call.url), headers, call.body, named, take)
    except ErrorEvent as error:
        return Response(error.status, {}, encode(error.document)), True
    except MessageUnreadable as error:
        raise errors.unreadable(Response(200, {}, b""), str(error), call.secret, call.provider) from None
    if not pieces and (response.status != 200 or response.body):  # else its events were cut off before the first
        return response, False
    document = assembly.document()
    if document is None:
        sentence = f"The answer broke off before its end. Look at the network, and at {named}."
        raise CallFailed("NETWORK_ERROR", sentence, may_repeat=True)
    return response._replace(body=encode(document)), False
