"""The parts of the protocol, without a server: what comes, who asks, what headers repeat, what goes out."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from ferrule_serve.mcp import stdio
from ferrule_serve.mcp.calls import Messages
from ferrule_serve.mcp.exchange import Exchange, Peer, RunningRequests, find_repeated, read_envelope
from ferrule_serve.mcp.http import event_stream, sessions
from ferrule_serve.mcp.http.event_stream import EventStream
from ferrule_serve.mcp.http.sessions import Sessions
from ferrule_serve.mcp.http.streamable_http import StreamableHTTP
from ferrule_serve.mcp.inbound import Notification, Reply, Request, read_message
from ferrule_serve.mcp.subscriptions import Subscriptions
from ferrule_serve.protocol.header_parameters import check_parameters, decode, header_parameters
from ferrule_serve.protocol.vocabulary import (
    CAPABILITIES_KEY,
    CLIENT_KEY,
    HEADER_MISMATCH,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    LEVEL_KEY,
    UNSUPPORTED_VERSION,
    VERSION_KEY,
    RequestError,
    encode,
    notification,
    success,
)
from ferrule_serve.web.bodies import BodyTooLarge, ClientGone, read_body
from ferrule_serve.web.trusted_names import TrustedNames

pytestmark = pytest.mark.unit
ENVELOPE: dict[str, Any] = {VERSION_KEY: "2026-07-28", CAPABILITIES_KEY: {}, CLIENT_KEY: {"name": "c", "version": "1"}}


class Kept:
    """A channel that keeps what is sent."""

    def __init__(self, *, is_full: bool = False) -> None:
        self.sent: list[dict[str, Any]] = []
        self.is_full = is_full

    def send(self, message: dict[str, Any]) -> None:
        """Keep a message."""
        self.sent.append(message)


def request(method: str = "tools/list", meta: object = ENVELOPE, **params: Any) -> Request:
    return Request(1, method, {"_meta": meta, **params})


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}', Request(1, "ping", {})),
        (b'{"jsonrpc": "2.0", "id": "a", "method": "ping", "params": null}', Request("a", "ping", {})),
        (b'{"jsonrpc": "2.0", "method": "x", "params": {"a": 1}}', Notification("x", {"a": 1})),
        (b'{"jsonrpc": "2.0", "id": 1, "result": {}}', Reply()),
        (b'{"jsonrpc": "2.0", "id": null, "error": {}}', Reply()),
    ],
)
def test_a_message_is_read_as_what_it_is(line: bytes, message: object) -> None:
    assert read_message(line) == message


def test_an_envelope_says_who_asks() -> None:
    peer = read_envelope(request(meta={**ENVELOPE, LEVEL_KEY: "error"}))
    assert (peer.version, peer.client, peer.level, peer.is_ready) == (
        "2026-07-28", {"name": "c", "version": "1"}, "error", True,
    )  # fmt: skip
    nameless = {key: value for key, value in ENVELOPE.items() if key != CLIENT_KEY}
    assert read_envelope(request(meta=nameless)).client is None
    assert read_envelope(request(meta=nameless)).level is None


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({VERSION_KEY: "2030-01-01"}, UNSUPPORTED_VERSION),
        ({VERSION_KEY: 5}, INVALID_PARAMS),
        ({CAPABILITIES_KEY: []}, INVALID_PARAMS),
        ({CLIENT_KEY: "c"}, INVALID_PARAMS),
        ({CLIENT_KEY: {"name": "c"}}, INVALID_PARAMS),
        ({LEVEL_KEY: "loud"}, INVALID_PARAMS),
        ({LEVEL_KEY: ["info"]}, INVALID_PARAMS),
    ],
)
def test_an_envelope_that_is_wrong_is_refused(changes: dict[str, Any], code: int) -> None:
    with pytest.raises(RequestError) as refused:
        read_envelope(request(meta={**ENVELOPE, **changes}))
    assert refused.value.code == code


@pytest.mark.parametrize("meta", [None, [], {}, {VERSION_KEY: "2026-07-28"}, {CAPABILITIES_KEY: {}}])
def test_an_envelope_that_lacks_something_is_refused(meta: object) -> None:
    with pytest.raises(RequestError, match="_meta"):
        read_envelope(request(meta=meta))


HEADERS = {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "echo"}


@pytest.mark.parametrize(
    "changes", [{"mcp-protocol-version": "2025-11-25"}, {"mcp-method": "tools/list"}, {"mcp-name": "other"}]
)
def test_headers_have_to_say_what_the_body_says(changes: dict[str, str]) -> None:
    asked = request("tools/call", name="echo")
    read_envelope(asked, HEADERS)
    with pytest.raises(RequestError) as refused:
        read_envelope(asked, {**HEADERS, **changes})
    assert refused.value.code == HEADER_MISMATCH


def test_a_header_that_stands_there_twice_is_found() -> None:
    once = [(b"mcp-name", b"a"), (b"accept", b"x"), (b"accept", b"y")]
    assert find_repeated(once) is None
    assert find_repeated([*once, (b"mcp-name", b"a")]) == "mcp-name"


SCHEMA = {
    "type": "object",
    "properties": {
        "region": {"type": "string", "x-mcp-header": "Region"},
        "place": {"type": "object", "properties": {"floor": {"type": "integer", "x-mcp-header": "Floor"}}},
        "loud": {"type": "boolean", "x-mcp-header": "Loud"},
    },
}
SAID = [(b"mcp-param-region", b"eu"), (b"mcp-param-floor", b"4"), (b"mcp-param-loud", b"true")]
GIVEN = {"region": "eu", "place": {"floor": 4}, "loud": True}


@pytest.mark.parametrize(
    ("arguments", "headers"),
    [
        (GIVEN, SAID),
        ({}, []),
        ({"region": None}, []),
        ({"place": {"floor": 4.0}}, [(b"mcp-param-floor", b"4")]),
        ({"place": {"floor": 4}}, [(b"mcp-param-floor", b"4.0")]),
        ({"region": "Zürich"}, [(b"mcp-param-region", b"=?base64?WsO8cmljaA==?=")]),
        ({"region": ["eu"]}, []),
    ],
)
def test_arguments_that_headers_repeat_are_taken(arguments: Any, headers: list[tuple[bytes, bytes]]) -> None:
    check_parameters(header_parameters(SCHEMA), arguments, headers)


@pytest.mark.parametrize(
    ("arguments", "headers"),
    [
        (GIVEN, SAID[1:]),
        ({}, SAID[:1]),
        ({"region": "us"}, SAID[:1]),
        ({"region": "eu"}, [SAID[0], SAID[0]]),
        ({"loud": False}, SAID[2:]),
        ({"place": {"floor": True}}, [(b"mcp-param-floor", b"1")]),
        ({"place": {"floor": 5}}, SAID[1:2]),
        ({"region": ["eu"]}, SAID[:1]),
        ({"region": "eu"}, [(b"mcp-param-region", b"=?base64?ZXV=?=")]),
    ],
)
def test_arguments_that_differ_from_their_headers_are_refused(
    arguments: Any, headers: list[tuple[bytes, bytes]]
) -> None:
    with pytest.raises(RequestError) as refused:
        check_parameters(header_parameters(SCHEMA), arguments, headers)
    assert refused.value.code == HEADER_MISMATCH


@pytest.mark.parametrize(
    "wrong",
    [
        {"type": "string", "x-mcp-header": "two words"},
        {"type": "object", "x-mcp-header": "Place"},
        {"type": "string", "x-mcp-header": 5},
        {"type": "string", "x-mcp-header": "REGION"},
    ],
)
def test_a_schema_with_a_wrong_header_has_none(wrong: dict[str, Any]) -> None:
    properties = {**SCHEMA["properties"], "wrong": wrong}  # type: ignore[dict-item] # JSON
    assert header_parameters({"type": "object", "properties": properties}) == ()


def test_a_header_in_broken_base64_says_nothing() -> None:
    assert [decode(value) for value in (None, "plain", "=?base64?4pyT?=", "=?base64?x?=", "=?base64?/w==?=")] == [
        None, "plain", "✓", None, None,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "127.0.0.1:80"}, None),
        ({"host": "[::1]:80"}, None),
        ({"host": "localhost"}, None),
        ({"host": "tools.example.org"}, None),
        ({"host": "tools.example.org:8443", "origin": "https://tools.example.org:8443"}, None),
        ({"host": "localhost", "origin": "https://app.example.org"}, None),
        ({"host": "localhost", "origin": "http://localhost:3000"}, None),
        ({}, 421),
        ({"host": ""}, 421),
        ({"host": "evil.example"}, 421),
        ({"host": "127.0.0.1.evil.example"}, 421),
        ({"host": "localhost", "origin": "null"}, 403),
        ({"host": "localhost", "origin": "https://app.example.org.evil.example"}, 403),
        ({"host": "localhost", "origin": "file://localhost"}, 403),
    ],
)
def test_names_that_are_not_the_servers_own_are_refused(headers: dict[str, str], status: int | None) -> None:
    names = TrustedNames("127.0.0.1", ("Tools.example.org",), ("https://app.example.org",))
    refusal = names.refusal(headers)
    assert (refusal.status if refusal else None) == status


def receiving(*messages: dict[str, Any]) -> Callable[[], Awaitable[Any]]:
    left = list(messages)

    async def receive() -> dict[str, Any]:
        return left.pop(0)

    return receive


def part(body: bytes, *, more: bool = True) -> dict[str, Any]:
    return {"type": "http.request", "body": body, "more_body": more}


def test_a_body_is_read_up_to_a_size() -> None:
    whole = (part(b"ab"), part(b"cd", more=False))
    assert asyncio.run(read_body("4", receiving(*whole), 4)) == b"abcd"
    for announced, limit in ((None, 3), ("5", 4), ("x", 3)):
        with pytest.raises(BodyTooLarge):
            asyncio.run(read_body(announced, receiving(*whole), limit))
    with pytest.raises(ClientGone):
        asyncio.run(read_body(None, receiving(part(b"ab"), {"type": "http.disconnect"}), 4))


def test_an_answer_is_one_document_or_events_from_the_first_on() -> None:
    async def answered(*before: dict[str, Any]) -> list[dict[str, Any]]:
        sent: list[dict[str, Any]] = []

        async def send(message: Any) -> None:
            sent.append(message)

        stream = EventStream(send, [(b"mcp-session-id", b"s")])
        for message in before:
            stream.send(message)
        stream.end()
        await stream.run()
        await stream.finish({"id": 1}, 404)
        return sent

    head, body = asyncio.run(answered())
    assert (head["status"], body["body"]) == (404, b'{"id":1}')
    assert (b"mcp-session-id", b"s") in head["headers"]
    head, first, last = asyncio.run(answered({"method": "a"}, {"method": "b"}))
    assert head["status"] == 200
    assert first["body"].count(b"event: message") == 2
    assert (last["body"], last.get("more_body", False)) == (b'event: message\r\ndata: {"id":1}\r\n\r\n', False)


def test_a_silent_stream_is_shown_to_be_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_stream, "_PING_SECONDS", 0.001)

    async def pinged() -> list[dict[str, Any]]:
        sent: list[dict[str, Any]] = []
        stream = None

        async def send(message: Any) -> None:
            sent.append(message)
            if len(sent) == 3 and stream is not None:
                stream.end()

        stream = EventStream(send)
        await stream.run()
        return sent

    assert [message.get("body") for message in asyncio.run(pinged())] == [None, b": ping\r\n\r\n", b": ping\r\n\r\n"]


def test_sessions_end_when_they_are_not_used_and_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "_IDLE_SECONDS", 0.01)
    monkeypatch.setattr(sessions, "_MAX_SESSIONS", 1)

    async def used() -> None:
        opened = Sessions()
        session = opened.open()
        assert session is not None
        assert opened.open() is None
        opened.begin_request(session)
        task = asyncio.create_task(asyncio.sleep(60, {}))
        session.running.keep(1, task)
        opened.end_request(session)
        await asyncio.wait((task,))
        assert task.cancelled()
        assert len(session.running) == 0
        assert opened.find(session.key) is None
        assert opened.open() is not None

    asyncio.run(used())


def test_a_session_that_is_opened_and_never_used_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "_IDLE_SECONDS", 0.01)

    async def opened() -> None:
        kept = Sessions()
        session, refused = kept.open(), kept.open()
        assert session is not None
        assert refused is not None
        kept.close(refused)
        assert refused.timer is not None
        assert refused.timer.cancelled(), "it would be remembered for half an hour"
        while kept.find(session.key):
            await asyncio.sleep(0.005)

    asyncio.run(opened())


def test_a_request_is_forgotten_when_it_is_answered_and_when_it_was_cancelled_before_it_began() -> None:
    async def cancelled() -> None:
        running = RunningRequests()
        first, again, other, done = (asyncio.create_task(asyncio.sleep(number and 60)) for number in (1, 1, 2, 0))
        for number, task in ((1, first), (1, again), ("1", other), (3, done)):
            running.keep(number, task)
        for number in (None, [1], True, 1.0, "x", 2):
            running.cancel(number)
        running.cancel(1)
        await asyncio.wait((first, again, done))
        await asyncio.sleep(0)
        assert [task.done() and task.cancelled() for task in (first, again, other, done)] == [True, True, False, False]
        assert len(running) == 1
        assert running.cancel_all() == ["1"]
        await running.wait()
        assert len(running) == 0

    asyncio.run(cancelled())


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


def test_what_is_nested_too_deeply_to_be_written_is_an_error_of_its_request() -> None:
    answer = encode(success("a", {"structuredContent": nested(100_000)}))
    assert answer.startswith(b'{"jsonrpc":"2.0","id":"a","error":{"code":-32603,')

    async def sent() -> None:
        await asyncio.sleep(0)
        EventStream(receiving()).send(notification("notifications/message", {"data": nested(100_000)}))  # type: ignore[arg-type] # wrong on purpose, or of another shape than the type

    with pytest.raises(RecursionError):
        asyncio.run(sent())


def listening(channel: Kept, number: int, asked: object) -> Exchange:
    params = {"notifications": asked}
    return Exchange(Request(number, "subscriptions/listen", params), Peer("2026-07-28", is_ready=True), channel)


def test_who_listens_is_told_until_the_end() -> None:
    async def told() -> None:
        subscriptions, channel, slow = Subscriptions(), Kept(), Kept()
        everything = {"toolsListChanged": True, "promptsListChanged": True, "resourceSubscriptions": ["x:y"]}
        first = asyncio.create_task(subscriptions.listen(listening(channel, 1, everything)))
        other = asyncio.create_task(subscriptions.listen(listening(channel, 2, {})))
        third = asyncio.create_task(subscriptions.listen(listening(slow, 3, {"toolsListChanged": True})))
        await asyncio.sleep(0)
        assert [message["params"]["notifications"] for message in channel.sent] == [{"toolsListChanged": True}, {}]
        slow.is_full = True
        subscriptions.notify()
        assert len(channel.sent) == 3
        assert await third == {"_meta": {"io.modelcontextprotocol/subscriptionId": 3}}
        subscriptions.close()
        await asyncio.gather(first, other)
        subscriptions.notify()
        assert len(channel.sent) == 3

    asyncio.run(told())


def test_who_begins_to_listen_at_the_end_of_the_server_is_answered_at_once() -> None:
    subscriptions, channel = Subscriptions(), Kept()
    subscriptions.close()
    asyncio.run(asyncio.wait_for(subscriptions.listen(listening(channel, 1, {})), 1))
    assert len(channel.sent) == 1


def test_a_stream_that_begins_at_the_end_of_the_server_ends_at_once() -> None:
    sent: list[Any] = []

    async def receive() -> Any:
        await asyncio.Event().wait()

    async def send(message: Any) -> None:
        sent.append(message)

    async def waited() -> None:
        http = StreamableHTTP(None, TrustedNames("127.0.0.1"), 1, has_sessions=True)  # type: ignore[arg-type] # wrong on purpose, or of another shape than the type
        assert http._sessions is not None
        session = http._sessions.open()
        assert session is not None
        http.end_streams()
        headers = {"host": "127.0.0.1", "accept": "text/event-stream", "mcp-session-id": session.key}
        raw = [(name.encode(), value.encode()) for name, value in headers.items()]
        await asyncio.wait_for(http({"method": "GET", "headers": raw}, receive, send), 1)

    asyncio.run(waited())
    assert [message["type"] for message in sent] == ["http.response.start", *["http.response.body"] * 2]


def test_there_is_a_bound_on_subscriptions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ferrule_serve.mcp.subscriptions._MAX_LISTENERS", 0)
    for asked, code in (({}, INTERNAL_ERROR), (None, INVALID_PARAMS)):
        with pytest.raises(RequestError) as refused:
            asyncio.run(Subscriptions().listen(listening(Kept(), 1, asked)))
        assert refused.value.code == code


@pytest.mark.parametrize(("key", "is_full", "told"), [(None, False, 3), ("a-key", False, 2), (None, True, 0)])
def test_what_a_client_can_do_without_is_left_out(key: str | None, is_full: bool, told: int) -> None:
    channel = Kept(is_full=is_full)
    exchange = Exchange(Request(1, "tools/call", {"_meta": {"progressToken": 0}}), Peer(), channel, key)
    messages = Messages(exchange, "echo")
    for event in ({"event": "queued"}, {"event": "progress", "progress": 1}, {"event": "note"}):
        messages.put(event)
    assert len(channel.sent) == told


def test_lines_are_cut_however_they_come_and_a_long_one_is_taken_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stdio, "_MAX_LINE_BYTES", 10)
    taken: list[bytes] = []
    lines = stdio._Lines(taken.append, lambda: None)
    for data in (b"a\nb", b"c\n\nd", b"\nx", b"x" * 20, b"x" * 20, b"x\ne\nf"):
        lines.data_received(data)
    lines.eof_received()
    assert taken == [b"a", b"bc", b"", b"d", b"x" * 21, b"e", b"f"]
