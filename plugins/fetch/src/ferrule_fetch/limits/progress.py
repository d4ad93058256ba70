"""What a process has done before it was ended: records that outlive it."""

from __future__ import annotations

import json
import mmap
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ferrule import JSONObject

_HEAD_BYTES = 8  # how long the records are that are whole
_ROOM_BYTES = 16 << 20


class NoMoreRoom(Exception):
    """A record does not fit any more."""


class Progress:
    """Records that a copy of this process adds, and that this process reads. They are in memory that both share.

    A record is there as a whole or not at all, however the copy ends. Make it before the copy is made.
    """

    def __init__(self, room_bytes: int = _ROOM_BYTES) -> None:
        self._memory = mmap.mmap(-1, room_bytes)

    def add(self, record: JSONObject) -> None:
        """Add a record. Raises NoMoreRoom."""
        line = json.dumps(record).encode() + b"\n"
        start = _HEAD_BYTES + self._length
        if start + len(line) > len(self._memory):
            raise NoMoreRoom
        self._memory[start : start + len(line)] = line
        self._memory[:_HEAD_BYTES] = (start - _HEAD_BYTES + len(line)).to_bytes(_HEAD_BYTES, "little")

    def read_records(self) -> Iterator[JSONObject]:
        """All that has been added, in its order."""
        for line in self._memory[_HEAD_BYTES : _HEAD_BYTES + self._length].splitlines():
            yield json.loads(line)

    def close(self) -> None:
        """Give the memory back."""
        self._memory.close()

    @property
    def _length(self) -> int:
        return int.from_bytes(self._memory[:_HEAD_BYTES], "little")
