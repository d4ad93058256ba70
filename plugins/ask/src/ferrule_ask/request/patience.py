"""How long a question may wait for its turns and for a server that is busy, beside the budgets of its steps."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ferrule_ask.pace.clock import Clock


class Patience:
    """What is left of it. seconds: of the clock; None where every wait has to fit into the budget of its step.

    is_own: whether it is beside the budgets.
    """

    def __init__(self, seconds: float | None, clock: Clock) -> None:
        self.is_own = seconds is not None
        self.left = seconds or 0.0
        self._clock = clock

    @contextmanager
    def used(self) -> Iterator[None]:
        """Count the time of a block."""
        began = self._clock.now()
        try:
            yield
        finally:
            self.left -= max(0.0, self._clock.now() - began)

    async def sleep(self, seconds: float) -> None:
        """Wait so long."""
        with self.used():
            await self._clock.sleep(seconds)
