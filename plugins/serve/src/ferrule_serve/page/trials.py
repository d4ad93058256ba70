"""Calls that were made on the page, with what was in them: kept for the one who has their key."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONMapping
    from ferrule_serve.page.call_history import RecentCall
    from ferrule_serve.pool import CallAnswer
    from ferrule_serve.protocol.vocabulary import Block, CallResult

_MAX_TRIALS = 50
_MAX_BYTES = 32 << 20  # of all that are kept
_EVENT_BYTES = 500  # of memory, about, of one event

_NUMBERS = (int, float)


class TimedEvent(NamedTuple):
    """An event of a tool. seconds: from the call's beginning."""

    seconds: float
    event: JSONMapping

    @property
    def progress(self) -> tuple[float, float | None, str] | None:
        """How far the tool is, of how much where that is known, and its message; None for other events."""
        done, total = self.event.get("progress"), self.event.get("total")
        if self.event.get("event") != "progress" or isinstance(done, bool) or not isinstance(done, _NUMBERS):
            return None
        message = self.event.get("message")
        is_total = isinstance(total, _NUMBERS) and not isinstance(total, bool) and total > 0
        return done, total if is_total else None, message if isinstance(message, str) else ""


@dataclass(frozen=True)
class Trial:
    """A call that was made on the page, and has ended.

    call: its row among the last calls. form: what was sent, as fields. arguments: as the host got them. own: as the
    tool takes them, where its schema is served in another form. result: what a client of MCP gets. events: as far as
    they are shown. origin: of the page, as the browser names it. key: whoever has it may see the trial again.
    """

    call: RecentCall
    form: Mapping[str, str]
    arguments: bytes
    own: bytes
    answer: CallAnswer
    result: CallResult
    events: Sequence[TimedEvent]
    origin: str
    key: str = field(default_factory=lambda: secrets.token_urlsafe(16))

    @property
    def waited(self) -> float:
        """Seconds for which it was queued."""
        return max(0.0, (self.call.seconds or 0.0) - self.answer.seconds)

    @property
    def size(self) -> int:
        """Bytes of memory, about."""
        media = sum(_size(block) for block in self.result["content"])
        return (
            2 * len(self.arguments)
            + len(self.own)
            + 2 * len(self.answer.document)
            + media
            + _EVENT_BYTES * len(self.events)
        )


class TrialStore:
    """The last 50 trials, fewer where they are large."""

    def __init__(self) -> None:
        self._trials: OrderedDict[str, Trial] = OrderedDict()
        self._bytes = 0

    def keep(self, trial: Trial) -> None:
        """Keep a trial, and forget the oldest."""
        self._trials[trial.key] = trial
        self._bytes += trial.size
        while len(self._trials) > _MAX_TRIALS or (self._bytes > _MAX_BYTES and len(self._trials) > 1):
            _, oldest = self._trials.popitem(last=False)
            self._bytes -= oldest.size

    def find(self, key: str) -> Trial | None:
        """The trial of that key, None where it is not kept."""
        return self._trials.get(key)


def _size(block: Block) -> int:
    resource = block.get("resource", {})
    texts = (block.get("data"), block.get("text"), resource.get("blob"), resource.get("text"))
    return sum(len(text) for text in texts if text)
