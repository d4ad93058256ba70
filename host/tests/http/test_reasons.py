"""Why there is no answer, or not a whole one, in a few words."""

import gzip
import logging
import time

import pytest

from ferrule.http import Client, RequestFailed, UnusableURL
from ferrule_dev.testing import Server, refused_port
from ferrule_testkit.web.clients import LONG, get_body, reason_of_failure, send_raw

pytestmark = pytest.mark.usefixtures("ferrule_environment")


@pytest.mark.process
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
    assert reason_of_failure(server.route("/", send_raw(answer))) == "Connection closed before the whole body had come"


@pytest.mark.process
@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (b"", "Connection closed before an answer came"),
        (b"SSH-2.0-OpenSSH_9.9\r\n\r\n", "The server's answer is not valid HTTP"),
        (b"HTTP/1.1 200 OK\r\nBroken\r\n\r\n", "The server's answer is not valid HTTP"),
    ],
)
def test_an_answer_that_is_none_is_told(server: Server, answer: bytes, reason: str) -> None:
    assert reason_of_failure(server.route("/", send_raw(answer))) == reason


@pytest.mark.process
def test_a_refused_connection_is_told() -> None:
    assert reason_of_failure(f"http://127.0.0.1:{refused_port()}/") == "Connection refused"


@pytest.mark.process
def test_a_host_without_an_address_is_told() -> None:
    host = f"{'x' * 64}.example"  # a label that no name server can be asked about
    assert reason_of_failure(f"http://{host}/") == f"Could not resolve host {host}"


@pytest.mark.process
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
        get_body(url)


@pytest.mark.process
@pytest.mark.parametrize("value", ["SECRET\n", "SECRET\x00", "SECRETü"])
def test_a_header_that_cannot_be_sent_is_told_without_its_value(server: Server, value: str) -> None:
    url = server.page("/", "")
    client = Client(time.monotonic() + LONG, headers={"X-Key": value})
    with client, pytest.raises(RequestFailed, match="The request cannot be written as HTTP") as failed:
        client.open("GET", url)
    assert "SECRET" not in repr(failed.value)


@pytest.mark.process
def test_no_reason_and_no_log_holds_the_query(
    server: Server, secure_server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    server.route("*", send_raw(b"nonsense"))
    urls = [
        f"{server.url}/?key=SECRET",
        f"{secure_server.url}/?key=SECRET",
        f"http://127.0.0.1:{refused_port()}/?key=SECRET",
        f"http://{'x' * 64}/?key=SECRET",
        "http://xn--/?key=SECRET",
    ]
    assert "SECRET" not in "".join(reason_of_failure(url) for url in urls)
    get_body(server.page("/?key=SECRET", "x"))
    assert caplog.records == []
