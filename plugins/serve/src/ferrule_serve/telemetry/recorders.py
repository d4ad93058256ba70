"""Several records of one call, where more than one thing remembers calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ferrule_serve.pool import CallAnswer, CallRecord, Recorder


def together(recorders: Sequence[Recorder]) -> Recorder | None:
    """A recorder that calls all of them; None if there is none."""
    if len(recorders) < 2:
        return recorders[0] if recorders else None
    return lambda tool, by, received: _Records([start(tool, by, received) for start in recorders])


class _Records:
    def __init__(self, records: Sequence[CallRecord]) -> None:
        self._records = records

    def finish(self, answer: CallAnswer | None) -> None:
        for record in self._records:
            record.finish(answer)
