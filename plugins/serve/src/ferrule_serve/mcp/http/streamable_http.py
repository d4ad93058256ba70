"""Streamable HTTP, the protocol's transport over HTTP, as ASGI: a POST for each message, answered at once or by events.

A request of the handshake era may belong to a session, where those are kept; since 2026-07-28 none does. An answer is
one JSON document, or events where the tool says something before it is done. A client that goes ends its request.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, NamedTuple

from ferrule_serve.idempotency import HEADER as KEY_HEADER
from ferrule_serve.mcp.exchange import (
    VERSION_HEADER,
    Exchange,
    Peer,
    check_version,
    find_repeated,
    mismatch,
    read_envelope,
)
from ferrule_serve.mcp.http.event_stream import EventStream
from ferrule_serve.mcp.http.sessions import Sessions
from ferrule_serve.mcp.inbound import Notification, Reply, Request, Unreadable, read_message
from ferrule_serve.protocol.header_parameters import check_parameters
from ferrule_serve.protocol.vocabulary import (
    DEFAULT_VERSION,
    HANDSHAKE_VERSIONS,
    HEADER_MISMATCH,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    REQUEST_CANCELLED,
    UNSUPPORTED_VERSION,
    RequestError,
    encode,
    failure,
)
from ferrule_serve.web.bodies import BodyTooLarge, ClientGone, read_body

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.types import Receive, Scope, Send

    from ferrule.text.json_types import JSONObject
    from ferrule_serve.mcp.http.sessions import Session
    from ferrule_serve.mcp.service import Service
    from ferrule_serve.web.trusted_names import TrustedNames

_SESSION_HEADER = "mcp-session-id"
_JSON, _EVENTS = "application/json", "text/event-stream"
_STATUSES = {
    PARSE_ERROR: 400,
    INVALID_REQUEST: 400,
    INVALID_PARAMS: 400,
    HEADER_MISMATCH: 400,
    UNSUPPORTED_VERSION: 400,
    METHOD_NOT_FOUND: 404,
}


class _Refused(Exception):
    """A request that is answered without a look at what it asks."""

    def __init__(self, status: int, text: str, code: int | None = INVALID_REQUEST, allow: str = "") -> None:
        super().__init__(text)
        self.status = status
        self.text = text
        self.code = code
        self.allow = allow


class _Head(NamedTuple):
    """The head of a request. raw: as it came. names: the headers by their names in small letters."""

    method: str
    raw: Sequence[tuple[bytes, bytes]]
    names: dict[str, str]

    def accepts(self, *kinds: str) -> bool:
        """Whether the client takes all these media types."""
        said = {kind.partition(";")[0].strip().lower() for kind in self.names.get("accept", "").split(",")}
        return all(said & {kind, kind.partition("/")[0] + "/*", "*/*"} for kind in kinds)


class StreamableHTTP:
    """Answers the requests for one path.

    Args:
        names: that are accepted.
        max_bytes: of a body. sessions: kept, or None.
    """

    def __init__(self, service: Service, names: TrustedNames, max_bytes: int, *, has_sessions: bool) -> None:
        self._service = service
        self._names = names
        self._max_bytes = max_bytes
        self._sessions = Sessions() if has_sessions else None
        self._streams: set[EventStream] = set()
        self._is_ending = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        raw = scope["headers"]
        names = {name.decode("latin-1"): value.decode("latin-1") for name, value in raw}
        head = _Head(scope["method"], raw, names)
        try:
            self._check(head)
            if names.get(VERSION_HEADER, DEFAULT_VERSION) in HANDSHAKE_VERSIONS:
                await self._answer_handshake_era(head, receive, send)
            else:
                await self._answer_envelope_era(head, receive, send)
        except _Refused as refused:
            await _refuse(refused, send)
        except Unreadable as error:
            await EventStream(send).finish(failure(error.number, error), 400)
        except ClientGone:
            return

    def end_streams(self) -> None:
        """End the streams on which clients wait for what may never come; one that begins later ends at once."""
        self._is_ending = True
        for stream in list(self._streams):
            stream.end()

    def _check(self, head: _Head) -> None:
        kind = head.names.get("content-type", "").partition(";")[0].strip().lower()
        if head.method == "POST" and kind != _JSON:
            raise _Refused(400, "Invalid Content-Type header", None)
        if sum(name == b"host" for name, _ in head.raw) > 1:
            raise _Refused(400, "More than one Host header", None)
        if refusal := self._names.refusal(head.names):
            raise _Refused(*refusal, code=None)

    async def _answer_envelope_era(self, head: _Head, receive: Receive, send: Send) -> None:
        """A request that says itself who asks."""
        if head.method != "POST":
            raise _Refused(405, "", None, "POST")
        message = await self._read(head, receive)
        if not head.accepts(_JSON, _EVENTS):
            raise _Refused(406, "", None)
        try:
            if isinstance(message, Notification):
                check_version(head.names[VERSION_HEADER])
                await _accept(send)  # none is defined: a request is cancelled by leaving it
                return
            if isinstance(message, Reply):
                raise RequestError(INVALID_REQUEST, "The body has to be one request or notification.")
            exchange = self._exchange(message, self._peer_of(message, head), head, EventStream(send))
        except RequestError as error:
            number = message.number if isinstance(message, Request) else None
            await EventStream(send).finish(failure(number, error), _STATUSES[error.code])
            return
        await self._respond(exchange, receive)

    def _peer_of(self, request: Request, head: _Head) -> Peer:
        """Who asks. Raises RequestError where headers and body do not say the same."""
        if repeated := find_repeated(head.raw):
            raise mismatch(repeated, "itself: it stands there twice")
        peer = read_envelope(request, head.names)
        arguments = request.params.get("arguments") or {}
        if request.method == "tools/call" and isinstance(arguments, dict):
            parameters = self._service.header_parameters(request.params.get("name"))
            check_parameters(parameters, arguments, head.raw)
        return peer

    async def _answer_handshake_era(self, head: _Head, receive: Receive, send: Send) -> None:
        if self._sessions is None:
            if head.method != "POST":
                raise _Refused(405, "Method Not Allowed", allow="POST")
            await self._post(None, head, receive, send)
            return
        session = self._session_of(head)
        if session is None and head.method != "POST":
            raise _Refused(400, "Bad Request: Missing session ID")
        if session is None:
            await self._post(None, head, receive, send)
            return
        self._sessions.begin_request(session)
        try:
            await self._answer_session(session, head, receive, send)
        finally:
            self._sessions.end_request(session)

    def _session_of(self, head: _Head) -> Session | None:
        key = head.names.get(_SESSION_HEADER)
        session = self._sessions.find(key) if self._sessions and key else None
        if key and session is None:
            raise _Refused(404, "Session not found")
        return session

    async def _answer_session(self, session: Session, head: _Head, receive: Receive, send: Send) -> None:
        if head.method == "POST":
            await self._post(session, head, receive, send)
        elif head.method == "GET":
            await self._wait_for_news(session, head, receive, send)
        elif head.method == "DELETE" and self._sessions is not None:
            self._sessions.close(session)
            await EventStream(send, _headers(session)).finish(None)
        else:
            raise _Refused(405, "Method Not Allowed", allow="GET, POST, DELETE")

    async def _post(self, session: Session | None, head: _Head, receive: Receive, send: Send) -> None:
        message = await self._read(head, receive)
        if not head.accepts(_JSON, _EVENTS):
            raise _Refused(406, f"Not Acceptable: Client must accept both {_JSON} and {_EVENTS}")
        if not isinstance(message, Request):
            if session is not None and isinstance(message, Notification):
                self._note(session, message)
            await _accept(send, _headers(session))
            return
        if self._sessions is not None and session is None:
            session = self._open_session(message)
        peer = session.peer if session else Peer(head.names.get(VERSION_HEADER, DEFAULT_VERSION), is_ready=True)
        exchange = self._exchange(message, peer, head, EventStream(send, _headers(session)))
        try:
            await self._respond(exchange, receive, session)
        finally:
            if session is not None and not session.peer.is_ready and self._sessions is not None:
                self._sessions.close(session)  # its first request was refused

    def _open_session(self, request: Request) -> Session:
        """A new one, for the request that begins it."""
        if request.method != "initialize":
            raise _Refused(400, "Bad Request: Missing session ID")
        session = self._sessions.open() if self._sessions else None
        if session is None:
            raise _Refused(503, "Too many open sessions", INTERNAL_ERROR)
        return session

    def _note(self, session: Session, message: Notification) -> None:
        if message.method == "notifications/initialized":
            self._service.begin(session.peer)
        elif message.method == "notifications/cancelled":
            session.running.cancel(message.params.get("requestId"))

    async def _wait_for_news(self, session: Session, head: _Head, receive: Receive, send: Send) -> None:
        """The stream of a session, for what belongs to no request."""
        if not head.accepts(_EVENTS):
            raise _Refused(406, f"Not Acceptable: Client must accept {_EVENTS}")
        if session.stream is not None:
            raise _Refused(409, "Conflict: Only one SSE stream is allowed per session")
        stream = session.stream = EventStream(send, _headers(session))
        self._streams.add(stream)
        leaving = asyncio.create_task(_wait_until_left(receive))
        leaving.add_done_callback(stream.end)
        if self._is_ending:
            stream.end()
        try:
            await stream.run(at_once=True)
            if not leaving.done():
                await stream.finish(None)
        finally:
            leaving.cancel()
            self._streams.discard(stream)
            session.stream = None

    async def _read(self, head: _Head, receive: Receive) -> Request | Notification | Reply:
        """The message in the body. Raises _Refused for one that is too large, Unreadable, and ClientGone."""
        try:
            return read_message(await read_body(head.names.get("content-length"), receive, self._max_bytes))
        except BodyTooLarge:
            raise _Refused(413, "Request body too large", None) from None

    def _exchange(self, request: Request, peer: Peer, head: _Head, stream: EventStream) -> Exchange:
        return Exchange(request, peer, stream, head.names.get(KEY_HEADER, ""), head.names)

    async def _respond(self, exchange: Exchange, receive: Receive, session: Session | None = None) -> None:
        """Answer a request. Where its client goes before, what it asked is ended, unless a session goes on."""
        stream = exchange.channel
        assert isinstance(stream, EventStream)  # noqa: S101 - as every caller here has made it
        task = asyncio.create_task(self._service.answer(exchange))
        leaving = asyncio.create_task(_wait_until_left(receive))
        for one in (task, leaving):
            one.add_done_callback(stream.end)
        if session is not None:
            session.running.keep(exchange.request.number, task)
        try:
            await stream.run()
            if not leaving.done():
                await stream.finish(*_outcome(exchange, task))
        finally:
            leaving.cancel()
            if session is None and not task.done():
                task.cancel()
                await asyncio.wait((task,))


def _outcome(exchange: Exchange, task: asyncio.Task[JSONObject]) -> tuple[JSONObject, int]:
    """The answer, and the status for one that was not begun otherwise."""
    if task.cancelled():
        error = RequestError(REQUEST_CANCELLED, "Request cancelled")
        return failure(exchange.request.number, error), 200
    message = task.result()
    code = message.get("error", {}).get("code")
    return message, _STATUSES.get(code, 200) if exchange.peer.has_envelopes else 200


async def _wait_until_left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _headers(session: Session | None) -> list[tuple[bytes, bytes]]:
    return [(_SESSION_HEADER.encode(), session.key.encode())] if session is not None else []


async def _accept(send: Send, headers: Sequence[tuple[bytes, bytes]] = ()) -> None:
    await send({"type": "http.response.start", "status": 202, "headers": [(b"content-length", b"0"), *headers]})
    await send({"type": "http.response.body", "body": b""})


async def _refuse(refused: _Refused, send: Send) -> None:
    """Answer with a text for people, or an error for a client."""
    kind, body = "text/plain; charset=utf-8", refused.text.encode()
    if refused.code is not None:
        kind, body = _JSON, encode(failure(None, RequestError(refused.code, refused.text)))
    headers = [(b"content-type", kind.encode()), (b"content-length", str(len(body)).encode())]
    if refused.allow:
        headers.append((b"allow", refused.allow.encode()))
    await send({"type": "http.response.start", "status": refused.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
