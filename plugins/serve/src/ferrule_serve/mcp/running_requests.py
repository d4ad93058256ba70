"""The requests of one client that are being answered, so that they can be cancelled."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ferrule_serve.protocol.vocabulary import RequestId


class RunningRequests:
    """The tasks that answer, by the ids of their requests. One that was never begun is forgotten like the others.

    A client may use an id again before it is answered; then both are meant by it.
    """

    def __init__(self) -> None:
        self._numbers: dict[asyncio.Task[Any], RequestId] = {}

    def keep(self, number: RequestId, task: asyncio.Task[Any]) -> None:
        """Remember a request until it is answered."""
        self._numbers[task] = number
        task.add_done_callback(self._forget)

    def cancel(self, number: object) -> None:
        """End what a client does not want any more. number: as it says; any other than an id of a request is none."""
        for task, own in list(self._numbers.items()):
            if own == number and type(own) is type(number):
                task.cancel()

    def cancel_all(self) -> list[RequestId]:
        """End all of them. The ids of those that are not answered."""
        return [number for task, number in list(self._numbers.items()) if task.cancel()]

    async def wait(self) -> None:
        """Wait until none is left."""
        await asyncio.gather(*self._numbers, return_exceptions=True)

    def __len__(self) -> int:
        return len(self._numbers)

    def _forget(self, task: asyncio.Task[Any]) -> None:
        self._numbers.pop(task, None)
