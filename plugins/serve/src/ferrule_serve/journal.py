"""The journal's lines of calls that no worker has ended: those that were not taken, and those whose worker was lost."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from ferrule import config
from ferrule.calls.server_interface import Outcome, write_journal
from ferrule.errors import FerruleError

if TYPE_CHECKING:
    from ferrule.calls.server_interface import Client
    from ferrule.discovery import InstalledTool


async def write_failure(
    tool: InstalledTool | str, error: FerruleError, sizes: tuple[int, int], client: Client | None, seconds: float
) -> None:
    """Write such a call down, where the journal is on. Never raises.

    Args:
        sizes: bytes of the arguments and of the answer.
        seconds: from the call to its end, with the time for which it was queued.
    """

    def write() -> None:
        try:
            settings = config.read()
        except FerruleError:
            return
        if "journal" in settings.content:
            outcome = Outcome(None, error.facts())
            write_journal(
                settings, tool, None, outcome, sizes=sizes, seconds=seconds, way="serve", client=dict(client or {})
            )

    await asyncio.to_thread(write)
