"""Pages that end, or that the time ends, before their connection does."""

import gzip
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import trustme

from ferrule import Context, ToolError
from ferrule_dev.testing import Exchange, Server
from ferrule_fetch.library import FetchOptions
from ferrule_fetch.library import fetch as fetch_page
from ferrule_fetch.transfer import request

pytestmark = pytest.mark.process

Fetch = Callable[..., dict[str, Any]]
Error = Callable[..., tuple[str, str]]
MakeContext = Callable[..., Context]

LATE = "[The page goes on: the rest had not come in the time there was.]"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
WHOLE = b"<html><title>T</title><p>whole</p></html>"


def _stay_open(*pieces: bytes) -> Callable[[Exchange], None]:
    """Send these, and leave the connection open."""

    def answer(exchange: Exchange) -> None:
        for piece in pieces:
            exchange.send(piece)
        exchange.hang()

    return answer


def _drip(head: bytes, body: bytes) -> Callable[[Exchange], None]:
    def answer(exchange: Exchange) -> None:
        exchange.send(head)
        exchange.drip(body)

    return answer


@pytest.mark.process
@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (b"<p>half", {"Content-Length": "100"}),
        (gzip.compress(b"<p>half" + b" " * 99)[:-9], {"Content-Encoding": "gzip"}),
        (b"7\r\n<p>half\r\n9\r\nand", {"Transfer-Encoding": "chunked", "Content-Length": ""}),
    ],
    ids=["length", "gzip", "chunked"],
)
def test_of_a_page_that_is_not_whole_there_is_what_has_come(
    server: Server, fetch: Fetch, body: bytes, headers: dict[str, str]
) -> None:
    answer = fetch(server.page("/", body, headers={"Connection": "close", **headers}))
    note = "[The page goes on: the connection was closed before the rest had come.]"
    assert answer["content"].startswith("half")
    assert answer["content"].endswith(f"\n\n{note}")


@pytest.mark.process
def test_a_page_of_which_nothing_has_come_is_an_error(server: Server, error: Error) -> None:
    url = server.page("/", b"", headers={"Content-Length": "100", "Connection": "close"})
    expected = ("NETWORK_ERROR", "Failed to fetch URL: Connection closed before the whole body had come")
    assert error(url) == expected


@pytest.fixture
def _short_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """A short while in which nothing comes is enough for these servers, which send all at once."""
    monkeypatch.setattr(request, "_QUIET_SECONDS", 0.2)


@pytest.mark.usefixtures("_short_quiet")
@pytest.mark.parametrize(
    "pieces",
    [
        (HEAD + b"\r\n" + WHOLE,),
        (HEAD.replace(b"1.1", b"1.0") + b"\r\n" + WHOLE + b"\n<!-- from the cache -->\n",),
        (HEAD + b"Content-Length: 999\r\n\r\n" + WHOLE.replace(b"</html>", b"</HTML>\r\n"),),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n29\r\n" + WHOLE + b"\r\n",),
        (HEAD + b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(WHOLE),),
        (HEAD.replace(b"html", b"html; charset=utf-16le") + b"\r\n" + WHOLE.decode().encode("utf-16le"),),
    ],
    ids=["neither length nor end", "a comment", "a wrong length", "no last chunk", "gzip", "UTF-16"],
)
def test_a_page_that_has_come_whole_is_an_answer_though_its_connection_stays_open(
    server: Server, fetch: Fetch, pieces: tuple[bytes, ...]
) -> None:
    answer = fetch(server.route("/", _stay_open(*pieces)))
    assert (answer["title"], answer["content"]) == ("T", "whole")


@pytest.mark.usefixtures("_short_quiet")
def test_a_page_over_tls_may_leave_its_connection_open_too(
    fetch: Fetch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    authority.cert_pem.write_to_path(tmp_path / "authority.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
    with Server(context) as server:
        assert fetch(server.route("/", _stay_open(HEAD + b"\r\n" + WHOLE)))["content"] == "whole"


def test_what_follows_the_end_of_a_page_at_once_is_read(server: Server, fetch: Fetch) -> None:
    def answer(exchange: Exchange) -> None:
        exchange.send(HEAD + b"Connection: close\r\n\r\n" + WHOLE)
        exchange.send(b"<p>and more")
        exchange.close_connection = True

    assert fetch(server.route("/", answer))["content"] == "whole\n\nand more"


@pytest.mark.slow
@pytest.mark.parametrize(
    "head",
    [b"\r\n", b"Content-Length: 9999999\r\n\r\n", b"Transfer-Encoding: chunked\r\n\r\n9000000\r\n"],
    ids=["no length", "length", "chunked"],
)
def test_of_a_page_that_drips_there_is_what_has_come_and_it_says_so(
    server: Server, fetch: Fetch, make_context: MakeContext, head: bytes
) -> None:
    url = server.route("/", _drip(HEAD + head + b"<title>T</title><p>The beginning", b" x"))
    answer = fetch(url, within=make_context(seconds=2))
    assert answer["title"] == "T"
    assert answer["content"].startswith("The beginning")
    assert answer["content"].endswith(f"\n\n{LATE}")


def test_of_text_without_an_end_over_an_open_connection_there_is_what_has_come(
    server: Server, fetch: Fetch, make_context: MakeContext
) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n"
    answer = fetch(server.route("/", _stay_open(head + b"all there is")), within=make_context(seconds=1))
    assert answer["content"] == f"all there is\n\n{LATE}"


def test_a_body_of_which_nothing_comes_is_an_error_in_time(
    server: Server, error: Error, make_context: MakeContext
) -> None:
    url = server.route("/", _stay_open(HEAD + b"\r\n"))
    expected = "Failed to fetch URL: Connection timeout: the body was still arriving, 0 bytes had come"
    assert error(url, within=make_context(seconds=0.4)) == ("NETWORK_ERROR", expected)


def test_data_of_an_api_comes_whole_or_not_at_all(server: Server, make_context: MakeContext) -> None:
    url = server.route("/", _stay_open(HEAD + b"\r\n[1, 2"))
    with pytest.raises(ToolError, match="Connection timeout: the body was still arriving, 5 bytes had come"):
        fetch_page(url, make_context(seconds=0.4), options=FetchOptions("application/json"), is_page=False)
