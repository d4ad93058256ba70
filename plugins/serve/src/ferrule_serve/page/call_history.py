"""The last calls: which tool, when, how long, what came of it, how much; never what was in them."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ferrule.text import strict_json

if TYPE_CHECKING:
    from ferrule_serve.pool import CallAnswer

_MAX_CALLS = 50
_MAX_CODE_CHARS = 64

RUNNING, OK, FAILED, CANCELLED = "running", "ok", "failed", "cancelled"


@dataclass
class RecentCall:
    """One call, as far as it has come. It is the `CallRecord` of a pool.

    by: what asked for it, `MCP` or `page`. began: seconds since 1970. seconds: that it took, with the time for which it
    was queued; None while it runs. code: of its failure. received, answered: bytes of the arguments and the document.
    """

    tool: str
    by: str
    received: int
    began: float = field(default_factory=time.time)
    outcome: str = RUNNING
    seconds: float | None = None
    code: str = ""
    answered: int | None = None
    _start: float = field(default_factory=time.monotonic)

    @property
    def began_utc(self) -> str:
        """When it began, as `2026-01-31T12:00:00Z`."""
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.began))

    def finish(self, answer: CallAnswer | None) -> None:
        """Take what came of it; None where the caller has gone."""
        self.seconds = time.monotonic() - self._start
        if answer is None:
            self.outcome = CANCELLED
            return
        self.outcome, self.answered = FAILED if answer.is_error else OK, len(answer.document)
        self.code = _code(answer) if answer.is_error else ""


class CallHistory:
    """The last 50 calls of a pool, of all its callers."""

    def __init__(self) -> None:
        self._calls: deque[RecentCall] = deque(maxlen=_MAX_CALLS)

    def start(self, tool: str, by: str, received: int) -> RecentCall:
        """Remember a call that begins."""
        call = RecentCall(tool, by, received)
        self._calls.append(call)
        return call

    def latest_first(self) -> list[RecentCall]:
        """The last calls."""
        return list(reversed(self._calls))


def _code(answer: CallAnswer) -> str:
    """The code of a failure in the usual shape; a tool may render its failures in another one."""
    document = strict_json.loads(answer.document)
    code = document.get("error_code") if isinstance(document, dict) else None
    return code[:_MAX_CODE_CHARS] if isinstance(code, str) else ""
