"""`ferrule serve` and those who want to hurt it: half requests, many connections, messages that mean two things."""

import asyncio
import json
import os
import signal
import socket
import subprocess
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ferrule.config import Configuration
from ferrule_serve.idempotency import IdempotencyKeys
from ferrule_serve.mcp.http.connections import MAX_HEAD_BYTES, ConnectionLimits
from ferrule_serve.mcp.inbound import Unreadable, read_message
from ferrule_testkit.machine import Machine
from ferrule_testkit.programs.redis_server import RedisServer
from ferrule_testkit.serve.service import BIN, SECONDS, HttpService

pytestmark = [pytest.mark.process, pytest.mark.xdist_group("serve-guard")]
ORIGIN = "https://app.example.org"
TOKEN = "a-token-of-some-length-4711"
PARSE_ERROR, INVALID_REQUEST = -32700, -32600


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    machine = Machine(tmp_path_factory.mktemp("guard"))
    machine.install(
        "greets", execute="return dict(arguments)", properties={"name": {"type": "string", "description": "Whom."}}
    )
    machine.install("naps", execute="import time; time.sleep(1); return {'rested': True}")
    return machine


@pytest.fixture(scope="module")
def guarded(machine: Machine) -> Iterator[HttpService]:
    """A server with small limits: a head and a body may take half a second each, and six connections are open."""
    table = "[serve]\nconnections = 8\nconnections_per_peer = 6\nhead_seconds = 0.5\nbody_seconds = 0.5\n"
    (machine.home / "limits.toml").write_text(table)
    settings = {"FERRULE_CONFIG": str(machine.home / "limits.toml"), "FERRULE_SERVE_TOKEN": TOKEN}
    environment = {**machine.environment, **settings}
    with HttpService(environment, "--page", f"--allow-origin={ORIGIN}", work=machine.work) as service:
        yield service


def address(service: HttpService) -> tuple[str, int]:
    host, _, port = service.url.removeprefix("http://").partition("/")[0].partition(":")
    return host, int(port)


def connect(service: HttpService, data: bytes = b"") -> socket.socket:
    connection = socket.create_connection(address(service), SECONDS)
    connection.sendall(data)
    return connection


def read_all(connection: socket.socket) -> bytes:
    """All that comes until the server closes."""
    data = b""
    while piece := connection.recv(4096):
        data += piece
    return data


@pytest.mark.parametrize(
    "sent",
    [
        b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Half: ",
        *(pytest.param(less, marks=pytest.mark.slow) for less in (b"", b"POST /mcp HT")),
    ],
)
def test_a_head_that_does_not_come_ends_the_connection(sent: bytes, guarded: HttpService) -> None:
    with connect(guarded, sent) as connection:
        assert read_all(connection).startswith(b"HTTP/1.1 408 ")


@pytest.mark.parametrize("path", ["/mcp", pytest.param("/tools/greets", marks=pytest.mark.slow)])
@pytest.mark.parametrize("size", [b"Content-Length: 90", b"Transfer-Encoding: chunked"])
def test_a_body_that_does_not_come_ends_the_connection(path: str, size: bytes, guarded: HttpService) -> None:
    password = b64encode(f"user:{TOKEN}".encode()).decode()
    authorization = f"Bearer {TOKEN}" if path == "/mcp" else f"Basic {password}"
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: {authorization}\r\n"
    kind = b"Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
    with connect(guarded, head.encode() + kind + size + b"\r\n\r\n") as connection:
        connection.sendall(b"2\r\n{}" if b"chunked" in size else b"{}")
        assert read_all(connection).startswith(b"HTTP/1.1 408 ")
    assert "Traceback" not in guarded.told


def test_a_second_request_of_a_connection_has_its_own_time(guarded: HttpService) -> None:
    whole = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    with connect(guarded, whole) as connection:
        assert connection.recv(4096).startswith(b"HTTP/1.1 200 ")
        connection.sendall(b"GET /healthz HT")
        assert b"HTTP/1.1 408 " in read_all(connection)


def test_a_call_behind_a_proxy_of_this_machine_may_take_longer_than_a_head(guarded: HttpService) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}", "X-Forwarded-For": "203.0.113.7"}
    assert guarded.post("tools/call", {"name": "naps", "arguments": {}}, **headers)[0] == 200


def test_blanks_around_the_value_of_a_header_are_no_part_of_it(guarded: HttpService) -> None:
    headers = {"Authorization": f" Bearer {TOKEN} ", "Mcp-Method": "\ttools/list \t", "Host": "127.0.0.1  "}
    assert guarded.post("tools/list", {}, **headers)[0] == 200


LIVE = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"


@pytest.mark.parametrize("sent", [b"", b"POST /mcp HTTP/1.1\r\n", b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"])
def test_connections_without_a_request_take_no_place_of_another_client(sent: bytes, guarded: HttpService) -> None:
    """Of the peer's six connections, the one that has been idle for longest goes: half heads, and those kept open."""
    idle = [connect(guarded, sent) for _ in range(6)]
    try:
        for connection in idle if sent.endswith(b"\r\n\r\n") else ():
            assert connection.recv(12) == b"HTTP/1.1 200"  # it was answered, and stays open
        for _ in range(12):
            with connect(guarded, LIVE) as other:
                assert read_all(other).startswith(b"HTTP/1.1 200 ")
    finally:
        for connection in idle:
            connection.close()


@pytest.mark.parametrize(
    "sent",
    [
        b"GET /" + b"a" * MAX_HEAD_BYTES,
        b"\r\n" * MAX_HEAD_BYTES,
        b"GET / HTTP/1.1\r\nX: " + b"a" * MAX_HEAD_BYTES,
        b"GET / HTTP/1.1\r\n" + b"X: a\r\n" * MAX_HEAD_BYTES,
        LIVE.replace(b"Connection: close\r\n", b"") + b"GET /" + b"a" * 2 * MAX_HEAD_BYTES,
    ],
    ids=["line", "newlines", "header", "headers", "second request"],
)
def test_a_head_is_read_up_to_a_size(sent: bytes, guarded: HttpService) -> None:
    """Less than what is sent is read, so the connection may also be reset."""
    with connect(guarded) as connection:
        try:
            connection.sendall(sent)
            answer = read_all(connection)
        except ConnectionError:
            return
    assert b"HTTP/1.1 431 " in answer


def test_a_body_without_the_token_is_not_read_to_its_end(guarded: HttpService) -> None:
    head = b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000000000\r\n\r\n"
    with connect(guarded, head) as connection, pytest.raises(ConnectionError):
        connection.sendall(bytes(1_000_000_000))


def test_a_page_of_an_allowed_origin_may_call_tools_and_another_may_not(guarded: HttpService) -> None:
    preflight = (
        "OPTIONS /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nOrigin: {}\r\n"
        "Access-Control-Request-Method: POST\r\n"
        "Access-Control-Request-Headers: authorization,mcp-protocol-version,mcp-param-region\r\n\r\n"
    )
    with connect(guarded, preflight.format(ORIGIN).encode()) as connection:
        allowed = read_all(connection).decode().lower()
    assert allowed.startswith("http/1.1 200 ")
    assert f"access-control-allow-origin: {ORIGIN}" in allowed
    with connect(guarded, preflight.format("https://evil.example").encode()) as connection:
        refused = read_all(connection).decode().lower()
    assert "access-control-allow-origin" not in refused
    bearer = {"Authorization": f"Bearer {TOKEN}"}
    assert guarded.post("tools/list", {}, Origin=ORIGIN, **bearer)[0] == 200
    assert guarded.post("tools/list", {}, Origin="https://evil.example", **bearer)[0] == 403
    assert guarded.post("tools/list", {}, Origin=ORIGIN)[0] == 401


TWICE = '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"greets","arguments":{"name":"a","name":"b"}}}'


def test_duplicate_keys_are_refused_over_http_with_the_id_of_the_message(guarded: HttpService) -> None:
    head = (
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Type: application/json\r\n"
        f"Authorization: Bearer {TOKEN}\r\nContent-Length: {len(TWICE)}\r\n\r\n"
    )
    with connect(guarded, (head + TWICE).encode()) as connection:
        status, _, body = read_all(connection).decode().partition("\r\n\r\n")
    assert status.startswith("HTTP/1.1 400 ")
    answer = json.loads(body)
    assert (answer["id"], answer["error"]["code"]) == (7, INVALID_REQUEST)
    assert "name" in answer["error"]["message"] or "twice" in answer["error"]["message"]


def test_every_line_that_is_no_good_message_is_answered_on_stdio(machine: Machine) -> None:
    lines = ["{", TWICE, '{"jsonrpc":"2.0","id":8,"method":"x\\ud800"}', "[]", '{"a":NaN,"id":"n"}']
    process = subprocess.Popen(
        [BIN / "ferrule", "serve", "greets"], env=machine.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("".join(line + "\n" for line in lines).encode())
    process.stdin.flush()
    answers = [json.loads(process.stdout.readline()) for _ in lines]
    process.stdin.close()
    assert process.wait(SECONDS) == 0
    process.stdout.close()
    codes = sorted((str(answer.get("id")), answer["error"]["code"]) for answer in answers)
    refused = INVALID_REQUEST
    assert set(codes) == {
        ("7", refused),
        ("8", refused),
        ("None", refused),
        ("None", PARSE_ERROR),
        ("n", refused),
    }


@pytest.mark.parametrize(
    ("message", "code", "number"),
    [
        ('{"id": 1}', INVALID_REQUEST, 1),
        ("{", PARSE_ERROR, None),
        ("[1, 2]", INVALID_REQUEST, None),
        ('{"jsonrpc": "2.0", "id": "a", "method": 5}', INVALID_REQUEST, "a"),
        ('{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}', INVALID_REQUEST, None),
        ('{"jsonrpc": "2.0", "id": true, "method": "ping"}', INVALID_REQUEST, None),
        ('{"jsonrpc": "2.0", "id": 2, "method": "ping", "params": [1]}', INVALID_REQUEST, 2),
        ('{"jsonrpc": "2.0", "id": 3, "method": "ping", "id": 3}', INVALID_REQUEST, 3),
        ('{"jsonrpc": "2.0", "id": 4, "method": "ping", "params": {"a": "\\ud83d"}}', INVALID_REQUEST, 4),
        ('{"jsonrpc": "2.0", "id": "\\ud83d", "method": "ping"}', INVALID_REQUEST, None),
        ("[" * 100_000, PARSE_ERROR, None),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_is_no_message_is_refused_with_its_id(message: str, code: int, number: object) -> None:
    with pytest.raises(Unreadable) as refused:
        read_message(message.encode())
    assert (refused.value.code, refused.value.number) == (code, number)


@pytest.mark.slow
def test_a_stalled_client_keeps_no_server_from_ending_in_order(machine: Machine) -> None:
    environment = {**machine.environment, "FERRULE_DEADLINE": "1"}
    with HttpService(environment, "greets", work=machine.work) as service:
        body = (
            b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"
        )
        with connect(service, body):
            service.process.send_signal(signal.SIGTERM)
            assert service.process.wait(SECONDS) == 0
        assert "Traceback" not in service.told


@pytest.mark.slow
def test_what_it_lacks_is_said_when_it_starts(machine: Machine) -> None:
    missing = {"FERRULE_REDIS": "redis://127.0.0.1:9/0", "FERRULE_STATE": "/proc/no-such-folder"}
    with HttpService({**machine.environment, **missing}, "greets", work=machine.work) as service:
        assert service.post("tools/list", {})[0] == 200
        assert service.process.poll() is None
        service.process.send_signal(signal.SIGTERM)
        service.process.wait(SECONDS)
        told = service.told
    assert "/proc/no-such-folder cannot be written to" in told
    assert "Redis cannot be used" in told


@pytest.mark.slow
def test_a_call_without_a_key_is_told_where_replicas_share_a_redis(machine: Machine, tmp_path: Path) -> None:
    with RedisServer(tmp_path) as redis:
        environment = {**machine.environment, "FERRULE_REDIS": redis.url}
        with HttpService(environment, "greets", work=machine.work) as service:
            for _ in range(2):
                assert service.post("tools/call", {"name": "greets", "arguments": {}})[0] == 200
            assert service.told.count("without the header Idempotency-Key") == 1


def test_one_connection_to_redis_is_kept_and_made_anew_where_it_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    with RedisServer(tmp_path) as redis:
        monkeypatch.setenv("FERRULE_REDIS", redis.url)
        keys = IdempotencyKeys(said.append)
        before = int(dict(_info(redis))["total_connections_received"])
        for number in range(5):
            asyncio.run(keys.claim(f"a-key-of-mine-{number}"))
        after = int(dict(_info(redis))["total_connections_received"])
        assert after - before == 2, "one is kept, and one asks for this figure"
        redis.ask("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
        asyncio.run(keys.claim("after-the-loss"))
        keys.close()
    assert said == []


def _info(redis: RedisServer) -> list[tuple[str, str]]:
    found = redis.ask("INFO", "stats")
    text = found.decode() if isinstance(found, bytes) else str(found)
    return [(name, value) for name, _, value in (line.partition(":") for line in text.splitlines()) if value]


def test_limits_that_are_no_numbers_are_the_usual_ones() -> None:
    def limits(table: dict[str, Any]) -> ConnectionLimits:
        return ConnectionLimits.of(Configuration("", {"serve": table}, os.environ))

    assert limits({"connections": -1, "connections_per_peer": True, "head_seconds": "x"}) == ConnectionLimits()
    assert limits({"connections": 5, "head_seconds": 0.5}) == ConnectionLimits(connections=5, head_seconds=0.5)


@pytest.mark.slow
def test_two_hosts_and_a_type_that_only_begins_as_json_are_refused(guarded: HttpService) -> None:
    head = (
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Length: 2\r\n"
        f"Authorization: Bearer {TOKEN}\r\n"
    )
    for more in ("Content-Type: application/jsonp\r\n", "Host: evil.example\r\nContent-Type: application/json\r\n"):
        with connect(guarded, f"{head}{more}\r\n{{}}".encode()) as connection:
            assert read_all(connection).startswith(b"HTTP/1.1 400 ")
