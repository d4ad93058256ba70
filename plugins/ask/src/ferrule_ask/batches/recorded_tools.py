"""Tools whose answers are noted, so that the questions of a batch go on with the same ones after anything."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

from ferrule.text.sha256 import sha256_hex

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferrule.text.json_types import JSONMapping
    from ferrule_ask.batches.record import Record
    from ferrule_ask.tools.protocols import ToolOffer, ToolResult, Tools


class RecordedTools:
    """See `Tools`. A call with the same arguments is made once.

    Args:
        locks: of the calls that are being made, for all questions together.
    """

    def __init__(self, tools: Tools, record: Record, locks: dict[str, asyncio.Lock]) -> None:
        self._tools = tools
        self._record = record
        self._locks = locks

    @property
    def offered(self) -> Sequence[ToolOffer]:
        """See `Tools`."""
        return self._tools.offered

    @property
    def left_out(self) -> Sequence[tuple[str, str]]:
        """See `Tools`."""
        return self._tools.left_out

    async def execute(self, name: str, arguments: JSONMapping, seconds: float) -> ToolResult:
        """See `Tools`."""
        call = sha256_hex(f"{name}\0{json.dumps(arguments, sort_keys=True)}".encode())
        async with self._locks.setdefault(call, asyncio.Lock()):
            known = self._record.result(call)
            if known is not None:
                return known
            result = await self._tools.execute(name, arguments, seconds)
            if not result.is_error:
                self._record.note_result(call, result)
            return result
