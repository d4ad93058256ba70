"""The client and its answers, against real servers on loopback."""

import gzip
import time

import pytest

from ferrule.http import BodyCutOff, Client
from ferrule_dev.testing import Exchange, Server
from ferrule_testkit.web.clients import LONG, send_raw

pytestmark = [pytest.mark.process, pytest.mark.usefixtures("ferrule_environment")]


def test_an_answer_has_its_status_headers_url_and_body(server: Server) -> None:
    url = server.page("/?a=1", "hello", status=404, headers={"X-Kind": "test"})
    with Client(time.monotonic() + LONG) as client, client.open("GET", url) as response:
        assert (response.status, response.reason, response.url) == (404, "Not Found", url)
        assert response.headers["x-kind"] == "test"
        assert (response.read(), response.complete) == (b"hello", True)


def test_headers_of_the_client_and_of_the_request_are_sent(server: Server) -> None:
    url = server.page("/", "")
    with Client(time.monotonic() + LONG, headers={"X-Key": "k", "user-agent": "mine"}) as client:
        client.open("GET", url, headers={"X-More": "m"}).close()
    sent = server.requests[0].headers
    assert (sent["x-key"], sent["x-more"], sent["user-agent"]) == ("k", "m", "mine")
    assert sent["accept-encoding"] == "gzip"


def test_params_become_the_query(server: Server) -> None:
    server.page("*", "")
    with Client(time.monotonic() + LONG) as client:
        client.open("GET", f"{server.url}/search", params={"q": "a b&c", "n": "1"}).close()
    assert server.requests[0].target == "/search?q=a+b%26c&n=1"


def test_a_body_can_be_posted(server: Server) -> None:
    sent = b"x" * 1_000_000
    url = server.route("/", lambda exchange: exchange.answer(exchange.rfile.read(len(sent))))
    with Client(time.monotonic() + LONG) as client, client.open("POST", url, content=sent) as response:
        assert response.read() == sent


def test_a_status_that_no_standard_knows_has_the_words_of_the_server(server: Server) -> None:
    url = server.route("/", send_raw(b"HTTP/1.1 599 Odd Thing\r\nContent-Length: 0\r\n\r\n"))
    with Client(time.monotonic() + LONG) as client, client.open("GET", url) as response:
        assert response.reason == "Odd Thing"


def test_a_redirect_is_given_back_and_not_followed(server: Server) -> None:
    url = server.redirect("/", "/there")
    with Client(time.monotonic() + LONG) as client, client.open("GET", url) as response:
        assert (response.status, response.headers["location"]) == (302, "/there")
    assert len(server.requests) == 1


@pytest.mark.parametrize("target", ["http://xn--/", "http://[", "http://h:99999999999999999999/", "\x7f"])
def test_a_redirect_to_nowhere_is_an_answer_like_any_other(server: Server, target: str) -> None:
    url = server.redirect("/", target)
    with Client(time.monotonic() + LONG) as client, client.open("GET", url) as response:
        assert response.status == 302


def test_a_connection_is_used_again(server: Server) -> None:
    ports = []

    def answer(exchange: Exchange) -> None:
        ports.append(exchange.client_address[1])
        exchange.answer(b"")

    url = server.route("/", answer)
    with Client(time.monotonic() + LONG) as client:
        for _ in range(3):
            with client.open("GET", url) as response:
                response.read()
    assert len(set(ports)) == 1


def test_a_cookie_goes_back_to_its_host_and_to_no_other(server: Server) -> None:
    server.page("*", "", headers={"Set-Cookie": "seen=1; Domain=.example.org; Path=/"})
    port = server.address[1]
    with Client(time.monotonic() + LONG, resolver=lambda host, port: ["127.0.0.1"]) as client:
        for host in ("a.example.org", "a.example.org", "b.example.org"):
            client.open("GET", f"http://{host}:{port}/").close()
    assert [request.headers.get("cookie") for request in server.requests] == [None, "seen=1", None]


def test_a_cookie_is_kept_from_answer_to_answer(server: Server) -> None:
    for number in range(3):
        server.page(f"/{number}", "", headers={"Set-Cookie": f"c{number}=ü"})
    with Client(time.monotonic() + LONG) as client:
        for number in range(3):
            client.open("GET", f"{server.url}/{number}").close()
    assert [request.headers.get("cookie") for request in server.requests] == [None, "c0=ü", "c0=ü; c1=ü"]


def test_a_secure_cookie_does_not_go_back_over_http(server: Server) -> None:
    url = server.page("/", "", headers={"Set-Cookie": "seen=1; Secure"})
    with Client(time.monotonic() + LONG) as client:
        for _ in range(2):
            client.open("GET", url).close()
    assert [request.headers.get("cookie") for request in server.requests] == [None, None]


def test_a_cookie_of_the_tools_own_is_sent_instead(server: Server) -> None:
    url = server.page("/", "", headers={"Set-Cookie": "seen=1"})
    with Client(time.monotonic() + LONG, headers={"cookie": "own=1"}) as client:
        for _ in range(2):
            client.open("GET", url).close()
    assert [request.headers["cookie"] for request in server.requests] == ["own=1", "own=1"]


def test_headers_of_the_same_name_are_joined_and_any_bytes_are_read(server: Server) -> None:
    head = b"HTTP/1.1 200 OK\r\nX-Two: 1\r\nx-two: 2\r\nX-New: \xc3\xbc\r\nX-Old: \xfc\r\nContent-Length: 0\r\n\r\n"
    with Client(time.monotonic() + LONG) as client, client.open("GET", server.route("/", send_raw(head))) as response:
        assert dict(response.headers) == {"x-two": "1, 2", "x-new": "ü", "x-old": "ü", "content-length": "0"}
        assert "X-NEW" in response.headers
        assert response.headers.get("x-none", "") == ""


@pytest.mark.parametrize(
    ("method", "content", "length"),
    [("get", None, None), ("post", None, "0"), ("POST", b"", "0"), ("POST", b"ab", "2"), ("GET", b"ab", "2")],
)
def test_a_request_says_how_long_its_body_is(
    method: str, content: bytes | None, length: str | None, server: Server
) -> None:
    with Client(time.monotonic() + LONG) as client:
        client.open(method, server.page("/", ""), content=content).close()
    sent = server.requests[0]
    assert (sent.method, sent.headers.get("content-length")) == (method.upper(), length)


def test_of_a_body_that_is_cut_off_there_is_what_has_come(server: Server) -> None:
    url = server.page("/", b"half", headers={"Content-Length": "100", "Connection": "close"})
    with Client(time.monotonic() + 60) as client, client.open("GET", url) as response:
        with pytest.raises(BodyCutOff) as raised:
            response.read()
        assert raised.value.received == b"half"


@pytest.mark.parametrize("encoding", ["", "gzip"])
def test_of_a_body_that_is_late_there_is_what_has_come(server: Server, encoding: str) -> None:
    body = gzip.compress(b"half" * 9)[:-8] if encoding else b"half" * 9
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: {encoding}\r\nContent-Length: 999\r\n\r\n".encode()

    def answer(exchange: Exchange) -> None:
        exchange.send(head + body)
        exchange.hang()

    asked = []

    def until(received: bytearray) -> float:
        asked.append(bytes(received))
        return time.monotonic() + 0.05 if received else time.monotonic() + 60

    with (
        Client(time.monotonic() + 60) as client,
        client.open("GET", server.route("/", answer)) as response,
        pytest.raises(BodyCutOff) as raised,
    ):
        response.read(until=until)
    assert (raised.value.received, raised.value.is_late) == (b"half" * 9, True)
    assert (asked[0], asked[-1]) == (b"", b"half" * 9)


def test_a_connection_on_which_a_body_was_waited_for_is_used_again(server: Server) -> None:
    server.page("/", b"first")
    with Client(time.monotonic() + 60) as client:
        for _ in range(2):
            with client.open("GET", server.url) as response:
                assert response.read(until=lambda received: time.monotonic() + (0 if received else 60)) == b"first"


def test_a_response_says_when_to_come_back(server: Server) -> None:
    url = server.page("/", b"", status=503, headers={"Retry-After": "17"})
    with Client(time.monotonic() + 60) as client, client.open("GET", url) as response:
        assert response.retry_after == 17
