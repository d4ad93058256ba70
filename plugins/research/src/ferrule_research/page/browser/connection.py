"""Messages to a browser and from it: JSON over two pipes, each message with a null byte behind it."""

from __future__ import annotations

import json
import os
import select
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ferrule import JSONObject

MAX_MESSAGE_BYTES = 64 << 20
_PIECE_BYTES = 1 << 20


class BrowserEnded(Exception):
    """The browser has closed its pipe, takes or says nothing more, or says what is no message of a browser."""


class BrowserLate(BrowserEnded):
    """The browser takes or says nothing more, and has not ended."""


class Connection:
    """A connection over two descriptors, which it closes.

    Args:
        reading: what the browser says.
        writing: what the browser hears.
        wake: another descriptor, which ends waiting.
        until: an instant of `time.monotonic()`, after which nothing more is written.
    """

    def __init__(self, reading: int, writing: int, wake: int, until: float) -> None:
        self._reading, self._writing, self._wake = reading, writing, wake
        self._until = until
        self._received = bytearray()
        self._searched = 0
        self._number = 0
        self.has_heard = False
        """Whether the browser has said anything."""
        os.set_blocking(writing, False)

    def send(self, method: str, session: str = "", **parameters: object) -> int:
        """Send a command; returns the number by which its answer is known. Raises BrowserEnded."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        data = memoryview(json.dumps(message | ({"sessionId": session} if session else {})).encode() + b"\0")
        try:
            while data:
                data = data[self._write(data) :]
        except OSError as error:
            raise BrowserEnded from error
        return self._number

    def _write(self, data: memoryview) -> int:
        """How many bytes the browser has taken, which may be as many as the pipe holds."""
        try:
            return os.write(self._writing, data)
        except BlockingIOError:
            _, ready, _ = select.select([], [self._writing], [], max(0.0, self._until - time.monotonic()))
            if not ready:
                raise BrowserLate from None
            return 0

    def receive(self, until: float) -> JSONObject | None:
        """The next message; None where none came until an instant of `time.monotonic()`, or `wake` has a byte."""
        while (end := self._received.find(b"\0", self._searched)) < 0:
            self._searched = len(self._received)
            ready, _, _ = select.select([self._reading, self._wake], [], [], max(0.0, until - time.monotonic()))
            if self._wake in ready:
                os.read(self._wake, _PIECE_BYTES)
                return None
            if not ready:
                return None
            piece = os.read(self._reading, _PIECE_BYTES)
            self._received += piece
            self.has_heard = self.has_heard or bool(piece)
            if not piece or len(self._received) > MAX_MESSAGE_BYTES:
                raise BrowserEnded
        message = _parse(self._received[:end])
        del self._received[: end + 1]
        self._searched = 0
        return message

    def close(self) -> None:
        """Close both pipes."""
        os.close(self._reading)
        os.close(self._writing)


def _parse(data: bytearray) -> JSONObject:
    """A message. A page that has taken the browser over may send anything. Raises BrowserEnded for what is none."""
    try:
        message = json.loads(data)
    except (ValueError, RecursionError):
        raise BrowserEnded from None
    if not isinstance(message, dict):
        raise BrowserEnded
    return message
