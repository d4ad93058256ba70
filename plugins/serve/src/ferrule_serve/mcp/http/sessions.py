"""Sessions of the handshake era over HTTP: what is remembered of a client from one request to the next."""

from __future__ import annotations

import asyncio
import uuid
from typing import TYPE_CHECKING

from ferrule_serve.mcp.exchange import Peer, RunningRequests

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONObject
    from ferrule_serve.mcp.http.event_stream import EventStream

_MAX_SESSIONS = 10_000
_IDLE_SECONDS = 1800.0


class Session:
    """One client. running: its requests. stream: on which it waits for what belongs to no request."""

    def __init__(self) -> None:
        self.key = uuid.uuid4().hex
        self.peer = Peer(channel=self)
        self.running = RunningRequests()
        self.stream: EventStream | None = None
        self.timer: asyncio.TimerHandle | None = None
        self.requests = 0

    @property
    def is_full(self) -> bool:
        """Whether the client does not read its stream."""
        return self.stream is not None and self.stream.is_full

    def send(self, message: JSONObject) -> None:
        """Send what belongs to no request; it is lost where the client does not wait for it."""
        if self.stream is not None:
            self.stream.send(message)


class Sessions:
    """Those that are open. One that is not used for half an hour is ended."""

    def __init__(self) -> None:
        self._open: dict[str, Session] = {}

    def open(self) -> Session | None:
        """A new one, None where too many are open."""
        if len(self._open) >= _MAX_SESSIONS:
            return None
        session = Session()
        self._open[session.key] = session
        self._end_when_unused(session)
        return session

    def find(self, key: str) -> Session | None:
        """The session of that key, None if there is none, or none any more."""
        return self._open.get(key)

    def begin_request(self, session: Session) -> None:
        """The session is used."""
        session.requests += 1
        _stop_timer(session)

    def end_request(self, session: Session) -> None:
        """A request, or the stream that waits, has ended."""
        session.requests -= 1
        if not session.requests and session.key in self._open:
            self._end_when_unused(session)

    def close(self, session: Session) -> None:
        """End a session, and what it has asked."""
        self._open.pop(session.key, None)
        _stop_timer(session)
        session.running.cancel_all()
        if session.stream is not None:
            session.stream.end()

    def _end_when_unused(self, session: Session) -> None:
        session.timer = asyncio.get_running_loop().call_later(_IDLE_SECONDS, self.close, session)


def _stop_timer(session: Session) -> None:
    if session.timer is not None:
        session.timer.cancel()
