"""What tells the time and waits."""

from __future__ import annotations

import asyncio
import time


class Clock:
    """The clock of the machine. speed: its seconds in one real second; more than 1 for tests."""

    def __init__(self, speed: float = 1.0) -> None:
        self.speed = speed

    def now(self) -> float:
        """Seconds since 1970, so that processes agree."""
        return self.at(time.time())

    def at(self, real: float) -> float:
        """The instant for one of a real clock."""
        return real * self.speed

    async def sleep(self, seconds: float) -> None:
        """Wait, without keeping the loop from its work."""
        await asyncio.sleep(seconds / self.speed)
