"""The last calls: which tool, when, how long, what came of it, how much; never what was in them."""

from __future__ import annotations

import secrets
import time
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ferrule_serve.pool import CallAnswer

_MAX_CALLS = 50

RUNNING, OK, FAILED, CANCELLED = "running", "ok", "failed", "cancelled"
PAGE = "page"


@dataclass
class RecentCall:
    """One call, as far as it has come. It is the `CallRecord` of a pool.

    by: what asked for it, `MCP` or `page`. began: seconds since 1970. seconds: that it took, with the time for which it
    was queued; None while it runs. code: of its failure. received, answered: bytes of the arguments and the document.
    name: of this call among all, which everybody may see.
    """

    tool: str
    by: str
    received: int
    began: float = field(default_factory=time.time)
    outcome: str = RUNNING
    seconds: float | None = None
    code: str = ""
    answered: int | None = None
    name: str = field(default_factory=lambda: secrets.token_hex(8))
    _start: float = field(default_factory=time.monotonic)

    @property
    def began_utc(self) -> str:
        """When it began, as `2026-01-31T12:00:00Z`."""
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.began))

    @property
    def age(self) -> float:
        """Seconds since it began."""
        return time.monotonic() - self._start

    def finish(self, answer: CallAnswer | None) -> None:
        """Take what came of it; None where the caller has gone."""
        self.seconds = self.age
        if answer is None:
            self.outcome = CANCELLED
            return
        self.outcome, self.answered = FAILED if answer.is_error else OK, len(answer.document)
        self.code = answer.code


class CallHistory:
    """The last 50 calls of a pool, of all its callers."""

    def __init__(self) -> None:
        self._calls: deque[RecentCall] = deque(maxlen=_MAX_CALLS)

    def start(self, tool: str, by: str, received: int) -> RecentCall:
        """Remember a call that begins. It is a `Recorder` of a pool; the page's own calls begin by `start_trial`."""
        call = RecentCall(tool, by, received)
        if by != PAGE:
            self._calls.append(call)
        return call

    def start_trial(self, tool: str, received: int) -> RecentCall:
        """Remember a call of the page, which finishes it itself, and keeps what is in it."""
        call = RecentCall(tool, PAGE, received)
        self._calls.append(call)
        return call

    def latest_first(self) -> list[RecentCall]:
        """The last calls."""
        return list(reversed(self._calls))
