"""The HTTP module for tools, against real servers on loopback."""

import gzip
import logging
import shutil
import socket
import ssl
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
import trustme
from loopback import Exchange, Server, refused_port

from ferrule.errors import ToolError
from ferrule.http import BodyCutOff, Client, RequestFailed, UnusableURL, deadline, trust
from ferrule.http.errors import HostUnknown
from ferrule.http.proxies import excluded
from ferrule.http.trust import tls_context

LONG = 60.0
SHORT = 0.4
PROXY_VARIABLES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in PROXY_VARIABLES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUEST_METHOD"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as server:
        yield server


@pytest.fixture(scope="session")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def secure_server(authority: trustme.CA) -> Iterator[Server]:
    with Server(_server_context(authority)) as server:
        yield server


@pytest.fixture
def trusted(authority: trustme.CA, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "authority.pem"
    authority.cert_pem.write_to_path(file)
    monkeypatch.setenv("SSL_CERT_FILE", str(file))


def _server_context(authority: trustme.CA) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1", "secure.example").configure_cert(context)
    return context


def _get(url: str, *, seconds: float = LONG, limit: int = 10 << 20) -> bytes:
    with Client(time.monotonic() + seconds) as client, client.open("GET", url) as response:
        return response.read(limit)


def _reason(url: str, *, seconds: float = LONG) -> str:
    with pytest.raises(RequestFailed) as failed:
        _get(url, seconds=seconds)
    return failed.value.reason


def _raw(data: bytes) -> Callable[[Exchange], None]:
    """A route that sends bytes and closes the connection."""

    def answer(exchange: Exchange) -> None:
        exchange.close_connection = True
        exchange.send(data)

    return answer


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
    url = server.route("/", _raw(b"HTTP/1.1 599 Odd Thing\r\nContent-Length: 0\r\n\r\n"))
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
    with Client(time.monotonic() + LONG) as client, client.open("GET", server.route("/", _raw(head))) as response:
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


@pytest.mark.parametrize(
    ("encoding", "encoded"),
    [
        pytest.param("gzip", gzip.compress(b"hello"), id="gzip"),
        pytest.param("x-gzip", gzip.compress(b"hello"), id="x-gzip"),
        pytest.param("gzip", gzip.compress(b"hel") + gzip.compress(b"lo"), id="two-members"),
        pytest.param("gzip", gzip.compress(b"hello") + b"\0\0\0", id="padded"),
        pytest.param("deflate", zlib.compress(b"hello"), id="deflate"),
        pytest.param("deflate", zlib.compress(b"hello")[2:-4], id="deflate-without-header"),
        pytest.param("identity", b"hello", id="identity"),
        pytest.param("", b"hello", id="none"),
    ],
)
def test_a_body_is_decoded(server: Server, encoding: str, encoded: bytes) -> None:
    assert _get(server.page("/", encoded, headers={"Content-Encoding": encoding})) == b"hello"


def test_an_empty_body_needs_no_decoding(server: Server) -> None:
    assert _get(server.page("/", b"", headers={"Content-Encoding": "gzip"})) == b""


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip", "compress"])
def test_an_encoding_that_was_not_asked_for_is_refused(server: Server, encoding: str) -> None:
    url = server.page("/", gzip.compress(b"x"), headers={"Content-Encoding": encoding})
    assert _reason(url) == "The body has a content encoding that was not asked for"


def test_a_body_that_is_not_encoded_as_its_headers_say_is_refused(server: Server) -> None:
    url = server.page("/", b"plain", headers={"Content-Encoding": "gzip"})
    assert _reason(url) == "The body is not compressed in the way its headers say"


def test_a_body_is_cut_at_the_limit(server: Server) -> None:
    with (
        Client(time.monotonic() + LONG) as client,
        client.open("GET", server.page("/", b"0123456789")) as response,
    ):
        assert (response.read(4), response.complete) == (b"0123", False)


def test_a_body_as_long_as_the_limit_is_complete(server: Server) -> None:
    with Client(time.monotonic() + LONG) as client, client.open("GET", server.page("/", b"0123")) as response:
        assert (response.read(4), response.complete) == (b"0123", True)


def test_what_a_body_grows_to_is_bounded(server: Server) -> None:
    bomb = gzip.compress(bytes(100 << 20))
    assert _get(server.page("/", bomb, headers={"Content-Encoding": "gzip"}), limit=5_000) == bytes(5_000)


def test_a_body_that_decodes_to_nothing_ends_at_the_limit(server: Server) -> None:
    nothing = gzip.compress(b"") * 5_000
    url = server.page("/", nothing, headers={"Content-Encoding": "gzip"})
    with Client(time.monotonic() + LONG) as client, client.open("GET", url) as response:
        assert (response.read(1_000), response.complete) == (b"", False)


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", id="content-length"),
        pytest.param(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n8\r\nhalf", id="chunked"),
        pytest.param(
            b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + gzip.compress(bytes(9_999))[:-9], id="gzip"
        ),
    ],
)
def test_a_body_that_is_not_whole_is_an_error(server: Server, answer: bytes) -> None:
    assert _reason(server.route("/", _raw(answer))) == "Connection closed before the whole body had come"


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (b"", "Connection closed before an answer came"),
        (b"SSH-2.0-OpenSSH_9.9\r\n\r\n", "The server's answer is not valid HTTP"),
        (b"HTTP/1.1 200 OK\r\nBroken\r\n\r\n", "The server's answer is not valid HTTP"),
    ],
)
def test_an_answer_that_is_none_is_told(server: Server, answer: bytes, reason: str) -> None:
    assert _reason(server.route("/", _raw(answer))) == reason


def test_a_refused_connection_is_told() -> None:
    assert _reason(f"http://127.0.0.1:{refused_port()}/") == "Connection refused"


def test_a_host_without_an_address_is_told() -> None:
    host = f"{'x' * 64}.example"  # a label that no name server can be asked about
    assert _reason(f"http://{host}/") == f"Could not resolve host {host}"


def test_the_next_address_is_tried_when_one_is_dead(server: Server) -> None:
    server.page("/", "alive")
    with Client(time.monotonic() + LONG, resolver=lambda host, port: ["127.0.0.2", "127.0.0.1"]) as client:
        url = f"http://two.example:{server.address[1]}/"
        with client.open("GET", url) as response:
            assert response.read() == b"alive"


@pytest.mark.parametrize(
    "url",
    [
        "ftp://127.0.0.1/",
        "127.0.0.1",
        "http://",
        "http://[::1",
        "http://127.0.0.1:99999/",
        "http://\u2060/",
        "//x",
    ],
)
def test_a_url_that_cannot_be_sent_is_told(url: str) -> None:
    with pytest.raises(UnusableURL, match="The URL is malformed"):
        _get(url)


@pytest.mark.parametrize("value", ["SECRET\n", "SECRET\x00", "SECRETü"])
def test_a_header_that_cannot_be_sent_is_told_without_its_value(server: Server, value: str) -> None:
    url = server.page("/", "")
    client = Client(time.monotonic() + LONG, headers={"X-Key": value})
    with client, pytest.raises(RequestFailed, match="The request cannot be written as HTTP") as failed:
        client.open("GET", url)
    assert "SECRET" not in repr(failed.value)


def test_no_reason_and_no_log_holds_the_query(
    server: Server, secure_server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    server.route("*", _raw(b"nonsense"))
    urls = [
        f"{server.url}/?key=SECRET",
        f"{secure_server.url}/?key=SECRET",
        f"http://127.0.0.1:{refused_port()}/?key=SECRET",
        f"http://{'x' * 64}/?key=SECRET",
        "http://xn--/?key=SECRET",
    ]
    assert "SECRET" not in "".join(_reason(url) for url in urls)
    _get(server.page("/?key=SECRET", "x"))
    assert caplog.records == []


def test_a_deadline_that_has_passed_leaves_no_time(server: Server) -> None:
    assert _reason(server.page("/", ""), seconds=-1) == "Connection timeout"


def test_a_server_that_says_nothing_cannot_outlive_the_deadline(server: Server) -> None:
    url = server.route("/", Exchange.hang)
    assert _reason(url, seconds=SHORT) == "Connection timeout"


def test_headers_that_drip_cannot_outlive_the_deadline(server: Server) -> None:
    def answer(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\n")
        exchange.drip(b"X-More: 1\r\n")

    assert _reason(server.route("/", answer), seconds=SHORT) == "Connection timeout"


def test_answers_before_the_answer_cannot_outlive_the_deadline(server: Server) -> None:
    def answer(exchange: Exchange) -> None:
        exchange.drip(b"HTTP/1.1 102 Processing\r\n\r\n", every=0.001)

    assert _reason(server.route("/", answer), seconds=SHORT) == "Connection timeout"


def test_a_body_that_drips_cannot_outlive_the_deadline(server: Server) -> None:
    def answer(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
        exchange.drip(b"x")

    reason = _reason(server.route("/", answer), seconds=3)
    assert reason.startswith("Connection timeout: the body was still arriving, ")


def test_a_server_that_does_not_read_cannot_outlive_the_deadline(server: Server) -> None:
    url = server.route("/", Exchange.hang)
    with Client(time.monotonic() + SHORT) as client, pytest.raises(RequestFailed, match="Connection timeout"):
        client.open("POST", url, content=bytes(32 << 20))


@pytest.mark.parametrize("begun", [b"", b"\x16\x03\x03\x40\x00\x02\x00\x3f\xfc"], ids=["silent", "dripping"])
def test_a_handshake_cannot_outlive_the_deadline(begun: bytes) -> None:
    closing = threading.Event()

    def shake_hands_for_ever(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection:
            connection.sendall(begun)
            while not closing.wait(0.02):
                try:
                    connection.sendall(b"\0" if begun else b"")
                except OSError:
                    return

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=shake_hands_for_ever, args=(listener,))
        thread.start()
        try:
            assert _reason(f"https://127.0.0.1:{listener.getsockname()[1]}/", seconds=SHORT) == "Connection timeout"
        finally:
            closing.set()
            thread.join()


def test_a_name_server_cannot_outlive_the_deadline() -> None:
    answering = threading.Event()

    def resolver(host: str, port: int) -> list[str]:
        answering.wait()
        return ["127.0.0.1"]

    client = Client(time.monotonic() + SHORT, resolver=resolver)
    with client, pytest.raises(RequestFailed, match="Connection timeout"):
        client.open("GET", "http://slow.example/")
    answering.set()


class Judge:
    """A guard that notes what it is asked, and refuses whatever is at an address that it is given."""

    def __init__(self, *refused: str) -> None:
        self.asked: list[tuple[str, list[str]]] = []
        self._refused = set(refused)

    def __call__(self, host: str, addresses: Sequence[str]) -> None:
        self.asked.append((host, list(addresses)))
        if self._refused.intersection(addresses):
            raise ToolError("INVALID_URL", f"{host} is refused.")


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
    monkeypatch.setattr(deadline, "_PATIENCE", 0.05)
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


@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize("host", ["secure.example", "secure.example."])
def test_a_dot_at_the_end_of_a_name_is_no_part_of_its_certificate(
    secure_server: Server, authority: trustme.CA, host: str
) -> None:
    secure_server.page("/", "safe")
    url = f"https://{host}:{secure_server.address[1]}/"
    client = Client(time.monotonic() + LONG, resolver=lambda host, port: ["127.0.0.1"])
    with client, client.open("GET", url) as response:
        assert response.read() == b"safe"
    assert secure_server.requests[0].headers["host"] == f"{host}:{secure_server.address[1]}"


def test_a_name_that_idna_2008_does_not_know_is_asked_for_as_it_is_written(server: Server) -> None:
    server.page("/", "found")
    client = Client(time.monotonic() + LONG, resolver=lambda host, port: ["127.0.0.1"])
    with client, client.open("GET", f"http://xn--ls8h.example:{server.address[1]}/") as response:
        assert response.read() == b"found"
    assert server.requests[0].headers["host"] == f"xn--ls8h.example:{server.address[1]}"


def test_a_certificate_of_an_unknown_authority_is_refused(secure_server: Server) -> None:
    reason = _reason(secure_server.page("/", "x"))
    assert reason.startswith("TLS certificate verify failed: ")
    assert "certificate" in reason.removeprefix("TLS certificate verify failed: ")


@pytest.mark.usefixtures("trusted")
def test_the_authorities_of_ssl_cert_file_are_trusted(secure_server: Server) -> None:
    assert _get(secure_server.page("/", "safe" * 100_000)) == b"safe" * 100_000


@pytest.mark.skipif(not shutil.which("openssl"), reason="openssl computes the names of the files")
def test_the_authorities_of_ssl_cert_dir_are_trusted(
    authority: trustme.CA, secure_server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "authority.pem"
    authority.cert_pem.write_to_path(file)
    command = ["openssl", "x509", "-hash", "-noout", "-in", str(file)]
    hashed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    file.rename(tmp_path / f"{hashed}.0")
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))
    assert _get(secure_server.page("/", "safe")) == b"safe"


@pytest.mark.parametrize("folder", ["hashed", "empty", "missing"])
def test_the_systems_folder_is_trusted_only_where_its_names_are_hashed(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if folder != "missing":
        (tmp_path / folder).mkdir()
    if folder == "hashed":
        (tmp_path / folder / "0123abcd.0").touch()
    monkeypatch.setattr(trust, "SYSTEM_FOLDERS", [str(tmp_path / folder)])
    context = tls_context()
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)
    assert bool(context.get_ca_certs()) is (folder != "hashed")  # a folder is only read as it is needed


@pytest.mark.usefixtures("trusted")
def test_a_certificate_for_another_host_is_refused(secure_server: Server) -> None:
    with Client(time.monotonic() + LONG, resolver=lambda host, port: ["127.0.0.1"]) as client:
        with pytest.raises(RequestFailed, match="TLS certificate verify failed: Hostname mismatch"):
            client.open("GET", f"https://other.example:{secure_server.address[1]}/")
        secure_server.page("/", "x")
        with client.open("GET", f"https://secure.example:{secure_server.address[1]}/") as response:
            assert response.status == 200


def test_a_context_of_the_tools_own_is_used(authority: trustme.CA, secure_server: Server) -> None:
    context = ssl.create_default_context()
    authority.configure_trust(context)
    url = secure_server.page("/", "x")
    with Client(time.monotonic() + LONG, tls=context) as client, client.open("GET", url) as response:
        assert response.read() == b"x"


def test_https_where_http_is_spoken_is_told(server: Server) -> None:
    assert _reason(f"https://127.0.0.1:{server.address[1]}/").startswith("TLS failed: ")


@pytest.mark.parametrize(
    ("variable", "value"),
    [("SSL_CERT_FILE", "/nowhere.pem"), ("SSL_CERT_DIR", "/nowhere"), ("SSL_CERT_FILE", __file__)],
)
def test_a_variable_that_names_no_certificates_is_told(
    variable: str, value: str, secure_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(ToolError, match=variable) as failed:
        _get(secure_server.url)
    assert failed.value.code == "NETWORK_ERROR"
    assert value in failed.value.message


def test_certificates_are_not_looked_for_where_there_is_no_tls(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "/nowhere.pem")
    assert _get(server.page("/", "x")) == b"x"


@pytest.mark.parametrize("variable", ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"])
def test_http_goes_through_the_proxy_of_the_environment(
    variable: str, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, f"http://u%40:p%3A@127.0.0.1:{server.address[1]}/")
    server.page("http://far.example/page", "from the proxy")
    assert _get("http://far.example/page") == b"from the proxy"
    assert server.requests[0].headers["proxy-authorization"] == "Basic dUA6cDo="


def test_a_proxy_may_be_named_without_a_scheme(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", f"127.0.0.1:{server.address[1]}")
    server.page("http://far.example/", "x")
    assert _get("http://far.example/") == b"x"


def test_the_small_spelling_goes_before_the_large_one(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://nowhere.example")
    monkeypatch.setenv("http_proxy", "")
    assert _get(server.page("/", "straight")) == b"straight"


def test_http_proxy_means_nothing_in_a_cgi_program(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{refused_port()}")
    monkeypatch.setenv("REQUEST_METHOD", "GET")
    assert _get(server.page("/", "straight")) == b"straight"


@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize("secure_proxy", [False, True], ids=["http-proxy", "https-proxy"])
def test_https_goes_through_a_tunnel(
    secure_proxy: bool, authority: trustme.CA, secure_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Server(_server_context(authority) if secure_proxy else None) as proxy:
        proxy.tunnel(secure_server)
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        secure_server.page("/page", "through" * 50_000)
        assert _get("https://secure.example/page") == b"through" * 50_000
        assert [request.target for request in proxy.requests] == ["secure.example:443"]


@pytest.mark.usefixtures("trusted")
def test_a_body_that_drips_through_a_tunnel_cannot_outlive_the_deadline(
    authority: trustme.CA, secure_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\n\r\n")
        exchange.drip(b"x")

    secure_server.route("/", answer)
    with Server(_server_context(authority)) as proxy:
        proxy.tunnel(secure_server)
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        assert _reason("https://secure.example/", seconds=1).startswith("Connection timeout")


def test_a_proxy_that_refuses_is_told(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", server.url)
    assert _reason("https://secure.example/") == (
        "The proxy refused to connect: HTTP 403 (through the proxy that HTTPS_PROXY names)"
    )


def test_a_proxy_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", f"http://user:SECRET@127.0.0.1:{refused_port()}")
    assert _reason("http://far.example/") == "Connection refused (through the proxy that http_proxy names)"


@pytest.mark.parametrize(
    "value",
    [
        "socks5://u:SECRET@127.0.0.1:1080",
        "garbage://SECRET",
        "http://",
        "http://h:SECRET",
        "http://h:0/SECRET",
        "::",
    ],
)
def test_a_variable_that_names_no_proxy_is_told_without_its_value(
    value: str, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALL_PROXY", value)
    with pytest.raises(ToolError, match="ALL_PROXY does not name an http or https proxy") as failed:
        _get(server.page("/", ""))
    assert failed.value.code == "NETWORK_ERROR"
    assert "SECRET" not in str(failed.value.facts())


def test_a_host_of_no_proxy_is_reached_straight(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{refused_port()}")
    monkeypatch.setenv("NO_PROXY", "localhost,127.0.0.1")
    assert _get(server.page("/", "straight")) == b"straight"


@pytest.mark.parametrize(
    ("no_proxy", "host", "expected"),
    [
        ("", "example.com", False),
        ("*", "example.com", True),
        ("other, *", "example.com", True),
        ("example.com", "example.com", True),
        ("EXAMPLE.com.", "example.COM", True),
        ("example.com", "api.example.com", True),
        (".example.com", "api.example.com", True),
        ("*.example.com", "api.example.com", True),
        ("example.com", "notexample.com", False),
        ("api.example.com", "example.com", False),
        ("example.com:443", "example.com", True),
        ("example.com:80", "example.com", False),
        ("a.example b.example", "b.example", True),
        ("10.0.0.1", "10.0.0.1", True),
        ("10.0.0.0/8", "10.1.2.3", True),
        ("10.0.0.0/8", "11.1.2.3", False),
        ("10.0.0.0/8", "ten.example", False),
        ("nonsense/8", "10.1.2.3", False),
        ("::1", "::1", True),
        ("[::1]:443", "::1", True),
        ("[::1]:80", "::1", False),
        (".", "example.com", False),
    ],
)
def test_no_proxy_excludes_names_addresses_and_networks(no_proxy: str, host: str, expected: bool) -> None:
    assert excluded(host, 443, no_proxy) is expected


def _imported_by(server: Server, *paths: str) -> set[str]:
    """What a process has imported after requests for the paths by one client."""
    script = (
        "import sys, time, ferrule.http\n"
        "with ferrule.http.Client(time.monotonic() + 60) as client:\n"
        "    for url in sys.argv[1:]:\n"
        "        client.open('GET', url).close()\n"
        "print(*sys.modules)"
    )
    urls = [server.url + path for path in paths]
    done = subprocess.run([sys.executable, "-c", script, *urls], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_a_request_imports_no_httpx(server: Server) -> None:
    server.page("/", "", headers={"Set-Cookie": "seen=1"})
    imported = _imported_by(server, "/")
    assert "httpcore" in imported
    assert imported.isdisjoint({"httpx", "http.cookiejar", "idna", "click", "jsonschema", "asyncio", "email.utils"})


def test_httpcore_finds_the_certifi_that_is_not_imported_with_it() -> None:
    script = (
        "import sys, ferrule.http, httpcore\n"
        "print('certifi' in sys.modules)\n"
        "print(httpcore.default_ssl_context().cert_store_stats()['x509_ca'] > 0, 'certifi' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "False\nTrue True\n"


def test_a_cookie_that_goes_back_imports_httpx_without_its_command_line(server: Server) -> None:
    server.page("*", "", headers={"Set-Cookie": "seen=1"})
    imported = _imported_by(server, "/", "/")
    assert "httpx" in imported
    assert imported.isdisjoint({"click", "rich", "httpx._main"})
    assert [request.headers.get("cookie") for request in server.requests] == [None, "seen=1"]


def test_of_a_body_that_is_cut_off_there_is_what_has_come(server: Server) -> None:
    url = server.page("/", b"half", headers={"Content-Length": "100", "Connection": "close"})
    with Client(time.monotonic() + 60) as client, client.open("GET", url) as response:
        with pytest.raises(BodyCutOff) as raised:
            response.read()
        assert raised.value.received == b"half"


def test_a_response_says_when_to_come_back(server: Server) -> None:
    url = server.page("/", b"", status=503, headers={"Retry-After": "17"})
    with Client(time.monotonic() + 60) as client, client.open("GET", url) as response:
        assert response.retry_after == 17
