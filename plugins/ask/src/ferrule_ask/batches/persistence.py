"""What is asked of a provider about batches: again and again until it says so, and read as it may be."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

from ferrule_ask.models.dialogue import MessageUnreadable
from ferrule_ask.request.errors import CallFailed

if TYPE_CHECKING:
    from ferrule_ask.batches.route import Route
    from ferrule_ask.models.batch_api import BatchResult, BatchState

_T = TypeVar("_T")
TRIES = 4
FIRST_WAIT_SECONDS, _MAX_WAIT_SECONDS, _GROWTH = 1.0, 60.0, 1.5
_MAX_FAILURES = 30  # of looks at a batch, in a row: half an hour


def lengthen(wait: float) -> float:
    """The seconds of the wait after one."""
    return min(_MAX_WAIT_SECONDS, wait * _GROWTH)


async def persist(ask: Callable[[], Awaitable[_T]]) -> _T:
    """What the provider says of batches, asked until it says so. Raises CallFailed where that is no use."""
    wait, failures = FIRST_WAIT_SECONDS, 0
    while True:
        try:
            return await ask()
        except MessageUnreadable as error:
            failure = read_failure(error, may_repeat=True)
        except CallFailed as error:
            failure = error
        failures += 1
        if not failure.may_repeat or failures >= _MAX_FAILURES:
            failure.was_sent = True  # the batch may have been, whatever became of the question about it
            raise failure
        await asyncio.sleep(wait)
        wait = lengthen(wait)


def read_failure(error: MessageUnreadable, *, may_repeat: bool = False) -> CallFailed:
    """What is wrong with a message that cannot be read."""
    sentence = f"What the model's server sent {error}. Run the same command again."
    return CallFailed("API_ERROR", sentence, may_repeat=may_repeat)


def is_refused(failure: CallFailed) -> bool:
    """Whether what was sent has certainly come to nothing; a gateway's 408, a 5xx and silence leave that open."""
    status = failure.status
    return not failure.was_sent or (status is not None and 300 <= status < 500 and status != 408)


async def fetch_results(state: BatchState, route: Route) -> list[BatchResult]:
    """What came of the requests of a batch that has ended. Raises CallFailed."""
    from ferrule_ask.models.batch_api import Sent

    results: list[BatchResult] = []
    for place in state.places:
        for number in range(1, TRIES + 1):
            try:
                results += route.api.read((await route.exchange(Sent(place))).body)
                break
            except CallFailed as failure:
                if not failure.may_repeat or number == TRIES:
                    raise
            await asyncio.sleep(FIRST_WAIT_SECONDS * number)
    return results
