"""The last calls: which tool, when, how long, what came of it, how much; never what was in them."""

from __future__ import annotations

import json
import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ferrule.text import strict_json
from ferrule_serve.pool import Answered, Pool

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ferrule.discovery import InstalledTool

_KEPT = 50
_LONGEST_CODE = 64

RUNNING, OK, FAILED, CANCELLED = "running", "ok", "failed", "cancelled"


@dataclass
class RecentCall:
    """One call, as far as it has come.

    by: who asked for it, `MCP` or `page`. began: seconds since 1970. seconds: that it took, with the time for which it
    was queued; None while it runs. code: of its failure. received, answered: bytes of the arguments and the document.
    """

    tool: str
    by: str
    received: int
    began: float
    outcome: str = RUNNING
    seconds: float | None = None
    code: str = ""
    answered: int | None = None


class ObservedPool(Pool):
    """A pool that remembers the last calls, whoever asks for them."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._recent: deque[RecentCall] = deque(maxlen=_KEPT)

    @property
    def recent(self) -> Iterator[RecentCall]:
        """The last calls, the latest first."""
        return reversed(self._recent)

    async def call(
        self,
        tool: InstalledTool | str,
        arguments: Mapping[str, Any] | bytes,
        *,
        by: str = "MCP",
        **options: Any,
    ) -> Answered:
        """As a pool does it, whose options it takes. by: who asks."""
        data = arguments if isinstance(arguments, bytes) else json.dumps(arguments).encode()
        name = tool if isinstance(tool, str) else tool.name
        call = RecentCall(name, by, len(data), time.time())
        begin = time.monotonic()
        self._recent.append(call)
        try:
            answered = await super().call(tool, data, **options)
            call.outcome, call.answered = FAILED if answered.is_error else OK, len(answered.document)
            call.code = _code(answered) if answered.is_error else ""
            return answered
        finally:
            call.seconds = time.monotonic() - begin
            if call.outcome == RUNNING:
                call.outcome = CANCELLED


def _code(answered: Answered) -> str:
    """The code of a failure in the usual shape; a tool may render its failures in another one."""
    document = strict_json.loads(answered.document)
    code = document.get("error_code") if isinstance(document, dict) else None
    return code[:_LONGEST_CODE] if isinstance(code, str) else ""
