"""One instant bounds everything, and a guard sees every address."""

import threading
import time

import pytest

from ferrule.errors import ToolError
from ferrule.http import Client, RequestFailed, deadline
from ferrule.http.reasons import HostUnknown
from ferrule_dev.testing import Exchange, Server
from ferrule_testkit.web.clients import HANDSHAKES, LONG, SHORT, Judge, endless_handshake, reason_of_failure

pytestmark = [pytest.mark.process, pytest.mark.usefixtures("ferrule_environment")]


def test_a_deadline_that_has_passed_leaves_no_time(server: Server) -> None:
    assert reason_of_failure(server.page("/", ""), seconds=-1) == "Connection timeout"


def test_a_server_that_says_nothing_cannot_outlive_the_deadline(server: Server) -> None:
    url = server.route("/", Exchange.hang)
    assert reason_of_failure(url, seconds=SHORT) == "Connection timeout"


def test_headers_that_drip_cannot_outlive_the_deadline(server: Server) -> None:
    def answer(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\n")
        exchange.drip(b"X-More: 1\r\n")

    assert reason_of_failure(server.route("/", answer), seconds=SHORT) == "Connection timeout"


def test_answers_before_the_answer_cannot_outlive_the_deadline(server: Server) -> None:
    def answer(exchange: Exchange) -> None:
        exchange.drip(b"HTTP/1.1 102 Processing\r\n\r\n", every=0.001)

    assert reason_of_failure(server.route("/", answer), seconds=SHORT) == "Connection timeout"


@pytest.mark.slow
def test_a_body_that_drips_cannot_outlive_the_deadline(server: Server) -> None:
    def answer(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
        exchange.drip(b"x")

    reason = reason_of_failure(server.route("/", answer), seconds=3)
    assert reason.startswith("Connection timeout: the body was still arriving, ")


def test_a_server_that_does_not_read_cannot_outlive_the_deadline(server: Server) -> None:
    url = server.route("/", Exchange.hang)
    with Client(time.monotonic() + SHORT) as client, pytest.raises(RequestFailed, match="Connection timeout"):
        client.open("POST", url, content=bytes(32 << 20))


@pytest.mark.parametrize("begun", HANDSHAKES, ids=["silent", "dripping"])
def test_a_handshake_cannot_outlive_the_deadline(begun: bytes) -> None:
    with endless_handshake(begun) as url:
        assert reason_of_failure(url, seconds=SHORT) == "Connection timeout"


def test_a_name_server_cannot_outlive_the_deadline() -> None:
    answering = threading.Event()

    def resolver(host: str, port: int) -> list[str]:
        answering.wait()
        return ["127.0.0.1"]

    client = Client(time.monotonic() + SHORT, resolver=resolver)
    with client, pytest.raises(RequestFailed, match="Connection timeout"):
        client.open("GET", "http://slow.example/")
    answering.set()


def test_a_guard_sees_every_address_before_any_is_connected_to(server: Server) -> None:
    judge = Judge("10.0.0.1")
    answers = ["127.0.0.1", "10.0.0.1"]
    client = Client(time.monotonic() + LONG, resolver=lambda host, port: answers, guard=judge)
    with client, pytest.raises(ToolError, match=r"two\.example is refused\."):
        client.open("GET", f"http://two.example:{server.address[1]}/")
    assert judge.asked == [("two.example", []), ("two.example", answers)]
    assert server.requests == []


def test_what_a_guard_has_seen_is_what_is_connected_to(server: Server) -> None:
    answers = iter([["127.0.0.1"], ["10.0.0.1"]])
    url = f"http://changing.example:{server.address[1]}/"
    server.page("/", "seen")
    with Client(time.monotonic() + LONG, resolver=lambda host, port: next(answers), guard=Judge("10.0.0.1")) as client:
        for _ in range(2):
            with client.open("GET", url) as response:
                assert response.read() == b"seen"
    assert next(answers) == ["10.0.0.1"]  # the second request took the connection of the first


def test_an_address_is_judged_as_a_name_is(server: Server) -> None:
    judge = Judge("127.0.0.1")
    with Client(time.monotonic() + LONG, guard=judge) as client, pytest.raises(ToolError):
        client.open("GET", server.page("/", ""))
    assert judge.asked == [("127.0.0.1", []), ("127.0.0.1", ["127.0.0.1"])]


def test_through_a_proxy_the_host_is_judged_and_the_proxy_is_not(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", server.url)
    server.page("*", "far")
    far = {"far.example": ["8.8.8.8"], "near.example": ["10.0.0.1"], "127.0.0.1": ["127.0.0.1"]}

    def resolver(host: str, port: int) -> list[str]:
        if host not in far:
            raise HostUnknown(host)
        return far[host]

    judge = Judge("127.0.0.1", "10.0.0.1")
    with Client(time.monotonic() + LONG, resolver=resolver, guard=judge) as client:
        for host in ("far.example", "unknown.example"):
            with client.open("GET", f"http://{host}/") as response:
                assert response.read() == b"far"
        with pytest.raises(ToolError, match=r"near\.example is refused\."):
            client.open("GET", "http://near.example/")
    assert judge.asked == [
        ("far.example", []),
        ("far.example", ["8.8.8.8"]),
        ("unknown.example", []),
        ("near.example", []),
        ("near.example", ["10.0.0.1"]),
    ]
    assert [request.target for request in server.requests] == ["http://far.example/", "http://unknown.example/"]


def test_a_name_that_only_the_proxy_can_resolve_is_not_waited_for(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", server.url)
    monkeypatch.setattr(deadline, "PROXY_NAME_SECONDS", 0.05)
    server.page("*", "far")
    answering = threading.Event()

    def resolver(host: str, port: int) -> list[str]:
        if host == "slow.example":
            answering.wait()
        return ["127.0.0.1"]

    client = Client(time.monotonic() + LONG, resolver=resolver, guard=Judge())
    with client, client.open("GET", "http://slow.example/") as response:
        assert response.read() == b"far"
    answering.set()
