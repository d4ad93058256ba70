"""Servers that are none, that are away or that misbehave: each is one error that says what to do next."""

import json
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from ferrule import ToolError
from ferrule_dev.testing import Exchange, Server, refused_port
from ferrule_testkit import PATIENCE_SECONDS

pytestmark = pytest.mark.process

JSON = "application/json"
KEY = "sk-4711-of-the-server"


class OneCredential:
    """The credentials of a call. renewed: the value after a refusal."""

    def __init__(self, value: str, renewed: str | ToolError = "") -> None:
        self._value = value
        self._renewed = renewed or value
        self.refused: list[str] = []

    def credential(self, name: str) -> str:
        if not self._value:
            raise ToolError("AUTH_MISSING", f"{name} is not set.")
        return self._value

    def renew_credential(self, name: str, refused: str) -> str:
        self.refused.append(refused)
        if isinstance(self._renewed, ToolError):
            raise self._renewed
        return self._renewed


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as one:
        yield one


def url_of(server: Server) -> str:
    return f"{server.url.rstrip('/')}/mcp"


def fail(url: str, seconds: float = PATIENCE_SECONDS, **options: Any) -> ToolError:
    from ferrule_mcp.remote.session import RemoteSession

    deadline = time.monotonic() + seconds
    with pytest.raises(ToolError) as caught, RemoteSession.start(url, deadline=deadline, **options) as session:
        session.initialize()
    return caught.value


def answering(status: int, body: bytes = b"", kind: str = "text/plain", **headers: str) -> Callable[[Exchange], None]:
    def answer(exchange: Exchange) -> None:
        exchange.read_body()
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        exchange.answer(body, kind, status=status, headers=named)

    return answer


@pytest.mark.parametrize(
    ("answer", "code", "words", "hint"),
    [
        pytest.param(answering(401), "AUTH_MISSING", "wants a login", "--login", id="401"),
        pytest.param(
            answering(403, b'{"error": "no", "error_description": "Not for you."}', JSON),
            "ACCESS_REFUSED",
            "HTTP 403: Not for you",
            "more rights",
            id="403",
        ),
        pytest.param(answering(404, b"nothing"), "PROTOCOL_ERROR", "HTTP 404: nothing", "/mcp", id="404"),
        pytest.param(answering(405), "PROTOCOL_ERROR", "HTTP 405", "/mcp", id="405"),
        pytest.param(answering(429, retry_after="7"), "RATE_LIMIT", "too often", None, id="429"),
        pytest.param(answering(503, b"<h1>x</h1>", "text/html"), "HTTP_ERROR", "HTTP 503", "later", id="503"),
        pytest.param(
            answering(200, b"<h1>Hello</h1>", "text/html"), "PROTOCOL_ERROR", "a web page", "/mcp", id="a-page"
        ),
        pytest.param(answering(200, b"{}", JSON), "PROTOCOL_ERROR", "", None, id="no-protocol"),
        pytest.param(answering(200, b"[1", JSON), "PROTOCOL_ERROR", "", None, id="no-json"),
        pytest.param(answering(202), "PROTOCOL_ERROR", "", None, id="202"),
        pytest.param(
            answering(307, location="https://other.example/mcp?key=secret"),
            "HTTP_ERROR",
            "leads to https://other.example/mcp (HTTP 307)",
            "by that URL",
            id="a-redirect",
        ),
        pytest.param(
            answering(200, b"event: message\ndata: {}\n\n", "text/event-stream"),
            "PROTOCOL_ERROR",
            "",
            None,
            id="an-odd-event",
        ),
        pytest.param(
            answering(200, b"", "text/event-stream"), "NETWORK_ERROR", "without an answer", None, id="no-event"
        ),
        pytest.param(
            answering(
                400, b'{"jsonrpc": "2.0", "id": null, "error": {"code": -32000, "message": "No \\u001b[31m."}}', JSON
            ),
            "TOOL_ERROR",
            "The server failed: No",
            None,
            id="an-error-of-the-protocol",
        ),
    ],
)
def test_an_answer_that_is_none(
    server: Server, answer: Callable[[Exchange], None], code: str, words: str, hint: str | None
) -> None:
    server.route("/mcp", answer)
    error = fail(url_of(server))
    assert error.code == code, error.facts()
    assert words in error.message
    assert hint is None or hint in str(error.hint)
    assert "secret" not in str(error.facts())
    assert "\x1b" not in error.message


def test_a_rate_limit_says_when_to_come_back(server: Server) -> None:
    server.route("/mcp", answering(429, retry_after="7"))
    assert fail(url_of(server)).retry_after == 7


def test_a_server_that_is_away() -> None:
    error = fail(f"http://127.0.0.1:{refused_port()}/mcp")
    assert error.code == "NETWORK_ERROR"
    assert "cannot be reached: Connection refused." in error.message
    assert error.hint == "Check that the server runs, and its URL."


def test_a_server_without_tls(server: Server) -> None:
    error = fail(url_of(server).replace("http:", "https:"))
    assert error.code == "NETWORK_ERROR"
    assert "TLS" in error.message
    assert "certificate" in str(error.hint)


def test_a_server_that_never_answers_ends_at_the_deadline(server: Server) -> None:
    server.route("/mcp", Exchange.hang)
    assert fail(url_of(server), seconds=0.3).code == "TIMEOUT"


def test_a_reply_that_comes_while_the_session_ends_hides_no_failure(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The SDK has a task for each request, which fails where the reply finds the session closed."""
    from ferrule_mcp.remote import connection

    real = connection.streamable_http_client

    @asynccontextmanager
    async def open_with_late_reply(*words: Any, **options: Any) -> AsyncIterator[Any]:
        async with real(*words, **options) as streams:
            yield streams
        async with anyio.create_task_group() as group:
            group.start_soon(_hand_over_to_nobody)

    monkeypatch.setattr(connection, "streamable_http_client", open_with_late_reply)
    server.route("/mcp", answering(500))
    assert fail(url_of(server)).code == "HTTP_ERROR"


async def _hand_over_to_nobody() -> None:
    raise anyio.BrokenResourceError


def test_a_connection_that_is_cut(server: Server) -> None:
    def cut(exchange: Exchange) -> None:
        exchange.read_body()
        exchange.answer(b'{"jsonrpc"', JSON, headers={"Content-Length": "4000"})
        exchange.close_connection = True

    server.route("/mcp", cut)
    assert fail(url_of(server)).code == "NETWORK_ERROR"


def test_a_flood_is_ended(server: Server) -> None:
    def flood(exchange: Exchange) -> None:
        exchange.read_body()
        exchange.answer(b"x" * (17 << 20), JSON)

    server.route("/mcp", flood)
    assert fail(url_of(server)).code == "RESULT_TOO_LARGE"


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://10.1.2.3/mcp", "10.1.2.3 is a private address"),
        ("http://169.254.169.254/mcp", "metadata service"),
        ("ftp://mcp.example.com/", "the scheme must be http or https"),
        ("https://user:pass@mcp.example.com/", "user name or password"),
    ],
)
def test_a_url_that_must_not_be_asked(url: str, words: str) -> None:
    error = fail(url, network=["mcp.example.com:443"])
    assert error.code == "INVALID_URL"
    assert words in error.message
    assert "pass@" not in str(error.facts())


def test_a_credential_is_sent_in_the_header_and_never_said(server: Server) -> None:
    server.route("/mcp", answering(401, json.dumps({"error": "bad"}).encode(), JSON))
    credentials = OneCredential(KEY)
    error = fail(url_of(server), headers={"Authorization": "Bearer {key}"}, credentials=credentials)
    assert error.code == "AUTH_INVALID"
    assert "HTTP 401: bad" in error.message
    assert {one.headers["authorization"] for one in server.requests} == {f"Bearer {KEY}"}
    assert KEY not in str(error.facts())


def test_a_refused_credential_is_renewed_once_and_sent_again(server: Server) -> None:
    def answer(exchange: Exchange) -> None:
        exchange.read_body()
        status = 404 if exchange.headers["Authorization"] == "Bearer new" else 401
        exchange.answer(b"", JSON, status=status)

    server.route("/mcp", answer)
    credentials = OneCredential("old", "new")
    error = fail(url_of(server), headers={"Authorization": "Bearer {token}"}, credentials=credentials)
    assert "HTTP 404" in error.message
    assert credentials.refused == ["old"]
    sent = [one.headers["authorization"] for one in server.requests]
    assert sent == ["Bearer old", *["Bearer new"] * (len(sent) - 1)]
    assert len(sent) > 2


def test_a_login_that_has_ended_is_the_error_of_the_call(server: Server) -> None:
    server.route("/mcp", answering(401))
    ended = ToolError("AUTH_INVALID", "The login is no longer valid.", hint="Log in again by `ferrule mcp login x`.")
    error = fail(url_of(server), headers={"Authorization": "Bearer {token}"}, credentials=OneCredential("old", ended))
    assert error is ended


def test_a_credential_that_is_not_set_is_told_before_anything_is_sent(server: Server) -> None:
    error = fail(url_of(server), headers={"X-Key": "{key}"}, credentials=OneCredential(""))
    assert error.code == "AUTH_MISSING"
    assert server.requests == []


def test_no_credential_is_sent_without_tls() -> None:
    error = fail("http://mcp.example.com/mcp", headers={"X-Key": "{key}"}, credentials=OneCredential(KEY))
    assert error.code == "INVALID_URL"
    assert "not https" in error.message
