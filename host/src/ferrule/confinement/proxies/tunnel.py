"""Carries bytes between two sockets until both ends have nothing more to say."""

from __future__ import annotations

import select
import ssl
from socket import SHUT_WR
from time import monotonic

TYPE_CHECKING = False

if TYPE_CHECKING:
    from socket import socket

_CHUNK_BYTES = 1 << 16
_MAX_WAITING_BYTES = 1 << 18  # of each direction, which the other end has not taken yet
_LAST_SECONDS = 30.0  # in which something has to come, once one end has said that it sends no more
_NOT_NOW = (BlockingIOError, InterruptedError, ssl.SSLWantReadError, ssl.SSLWantWriteError)


def carry(client: socket, server: socket, to_client: bytes = b"", to_server: bytes = b"") -> None:
    """Carry all that comes.

    Args:
        to_client, to_server: what has been read already.

    Raises:
        OSError.
    """
    for one in (client, server):
        one.setblocking(False)
    ways = [_Way(client, server, to_server), _Way(server, client, to_client)]
    moved = monotonic()
    while not all(way.is_over for way in ways):
        have_moved = [way.move() for way in ways]
        if any(have_moved):
            moved = monotonic()
            continue
        is_half = any(way.is_over for way in ways)
        if is_half and monotonic() - moved > _LAST_SECONDS:
            return
        _wait(client, server, ways, _LAST_SECONDS if is_half else None)


class _Way:
    """One direction."""

    def __init__(self, source: socket, target: socket, waiting: bytes) -> None:
        self._source = source
        self._target = target
        self._waiting = bytearray(waiting)
        self._has_ended = False
        self.is_over = False

    def events(self, one: socket) -> int:
        """What it waits for at one of the sockets. TLS may have to write to read, so there is a little more."""
        found = 0
        if one is self._source and not self._has_ended and len(self._waiting) < _MAX_WAITING_BYTES:
            found |= select.POLLIN
        if one is self._target and self._waiting:
            found |= select.POLLOUT | (select.POLLIN if isinstance(one, ssl.SSLSocket) else 0)
        return found

    def move(self) -> bool:
        """Read and write what can be, without waiting; False where nothing could."""
        has_moved = False
        if not self._has_ended and len(self._waiting) < _MAX_WAITING_BYTES:
            data = _read(self._source)
            if data is not None:
                has_moved = True
                self._has_ended = not data
                self._waiting += data
        if self._waiting:
            try:
                sent = self._target.send(self._waiting)
            except _NOT_NOW:
                sent = 0
            del self._waiting[:sent]
            has_moved = has_moved or sent > 0
        if self._has_ended and not self._waiting and not self.is_over:
            self.is_over = True
            if not isinstance(self._target, ssl.SSLSocket):  # which could not be read any more
                self._target.shutdown(SHUT_WR)
        return has_moved


def _read(source: socket) -> bytes | None:
    """What has come, nothing at its end, and None if there is nothing now."""
    try:
        return source.recv(_CHUNK_BYTES)
    except _NOT_NOW:
        return None
    except ssl.SSLEOFError:
        return b""


def _wait(client: socket, server: socket, ways: list[_Way], seconds: float | None) -> None:
    poll = select.poll()
    for one in (client, server):
        events = 0
        for way in ways:
            events |= way.events(one)
        if events:  # of a socket that nothing is wanted of, its end would be told again and again
            poll.register(one, events)
    poll.poll(None if seconds is None else seconds * 1000 + 1)
