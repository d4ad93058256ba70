"""What a page says that has taken the browser over: no message of it harms who reads it."""

import json
import os
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest

from ferrule import Context
from ferrule_fetch.library import ContentType, Page
from ferrule_research.page.browser import connection, rendition
from ferrule_research.page.browser.asked import Asked, headers_for_browser
from ferrule_research.page.browser.connection import BrowserEnded, Connection

pytestmark = pytest.mark.process

REQUEST = {"method": "GET", "url": "http://page.example/words#part", "headers": {"Accept": "*/*"}}
EVENT = {"requestId": "1", "resourceType": "Fetch", "frameId": "F", "request": REQUEST}


class Pipes(NamedTuple):
    """connection: to a browser that is played. says: what it says goes in here. hears: what it is told comes out."""

    connection: Connection
    says: int
    hears: int


@pytest.fixture
def pipes() -> Iterator[Pipes]:
    to_read, says = os.pipe()
    hears, to_write = os.pipe()
    woken, wake = os.pipe()
    made = Connection(to_read, to_write, woken, time.monotonic() + 0.05)
    yield Pipes(made, says, hears)
    made.close()
    for number in (says, hears, woken, wake):
        os.close(number)


@pytest.mark.parametrize("message", [b"", b"{", b"[]", b"1", b"null", b"[" * 60_000, b'{"a":' * 60_000, b"\xff\xfe"])
def test_what_is_no_message_ends_the_visit(pipes: Pipes, message: bytes) -> None:
    os.set_blocking(pipes.says, False)
    data = message[:60_000] + b"\0"
    assert os.write(pipes.says, data) == len(data)
    with pytest.raises(BrowserEnded):
        pipes.connection.receive(time.monotonic() + 60)


def test_a_message_without_an_end_ends_the_visit(pipes: Pipes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "MAX_MESSAGE_BYTES", 10_000)
    os.write(pipes.says, b"x" * 20_000)
    with pytest.raises(BrowserEnded):
        pipes.connection.receive(time.monotonic() + 60)


def test_a_browser_that_takes_nothing_ends_the_visit(pipes: Pipes) -> None:
    with pytest.raises(BrowserEnded):
        pipes.connection.send("Fetch.fulfillRequest", body="x" * (1 << 20))


def test_messages_come_in_their_order_and_whole(pipes: Pipes) -> None:
    os.write(pipes.says, b'{"id": 1}\0{"id": 2, "result": {"a": "\\u0000')
    assert pipes.connection.receive(time.monotonic() + 60) == {"id": 1}
    os.write(pipes.says, b'"}}\0')
    assert pipes.connection.receive(time.monotonic() + 60) == {"id": 2, "result": {"a": "\0"}}


FORGED: list[dict[str, Any]] = [
    {"method": "Fetch.requestPaused"},
    {"method": "Fetch.requestPaused", "params": []},
    {"method": "Fetch.requestPaused", "params": {**EVENT, "request": {**REQUEST, "headers": 3}}},
    {"method": "Fetch.requestPaused", "params": {**EVENT, "request": {**REQUEST, "postDataEntries": [{}]}}},
    {"method": "Fetch.requestPaused", "params": {**EVENT, "request": {**REQUEST, "postDataEntries": [{"bytes": "é"}]}}},
    {"method": "Page.frameNavigated", "params": {"frame": 3}},
    {"method": "Page.javascriptDialogOpening", "params": {}},
    {"id": [], "result": {}},
    {"id": 1, "result": 3},
    {"id": 1, "error": {"message": "no"}},
]


@pytest.mark.parametrize("message", FORGED, ids=map(str, range(len(FORGED))))
def test_a_forged_message_gives_no_page(
    pipes: Pipes, make_context: Callable[..., Context], message: dict[str, Any]
) -> None:
    page = Page("http://page.example/", ContentType("text/html", ""), b"")
    requests = rendition.Requests(pipes.connection, page, make_context(), time.monotonic(), pipes.says)
    os.write(pipes.says, json.dumps(message).encode() + b"\0")
    with pytest.raises(BrowserEnded):
        rendition._Visit(pipes.connection, requests).read(page.url, time.monotonic() + 60, time.monotonic() + 60)
    requests.close()


def _ask(kind: str = "Fetch", **request: object) -> Asked:
    return Asked.of({**EVENT, "resourceType": kind, "request": {**REQUEST, **request}}, "")


@pytest.mark.parametrize(
    ("kind", "request_of_page"),
    [
        ("Image", {}),
        ("Font", {}),
        ("Media", {}),
        ("Ping", {"method": "POST"}),
        ("Fetch", {"url": "file:///etc/passwd"}),
        ("Fetch", {"url": "ws://page.example/"}),
        ("Document", {"method": "POST"}),
        ("Fetch", {"method": "DELETE"}),
        ("Fetch", {"method": "OPTIONS"}),
        ("Fetch", {"method": "OPTIONS", "headers": {"Access-Control-Request-Method": "DELETE"}}),
        ("Fetch", {"method": "POST", "headers": {"Content-Type": "application/json"}}),
    ],
)
def test_what_is_not_sent(kind: str, request_of_page: dict[str, object]) -> None:
    assert not _ask(kind, **request_of_page).is_wanted


@pytest.mark.parametrize("name", ["Cookie", "Host", "Proxy-Authorization", "Sec-Fetch-Site", "Content-Length", "A b"])
def test_a_header_that_is_not_the_pages_to_set_is_not_sent(name: str) -> None:
    assert dict(_ask(headers={name: "x"}).request().headers) == {}


@pytest.mark.parametrize("value", ["a\r\nHost: b", "a\nb", "a\0b", "é", "x" * 5_000])
def test_a_header_that_is_none_is_not_sent(value: str) -> None:
    assert dict(_ask(headers={"X-A": value}).request().headers) == {}


def test_a_browser_is_told_what_it_judges_by_and_nothing_that_has_it_ask_or_keep() -> None:
    told = {"content-type": "a/b", "access-control-allow-origin": "*", "location": "/x", "x-total": "3"}
    untold = {"set-cookie": "a=b", "content-encoding": "gzip", "content-length": "3", "report-to": "{}", "nel": "{}"}
    untold |= {"alt-svc": "h3", "refresh": "0", "link": "</x>; rel=preload", "content-security-policy": "x"}
    assert headers_for_browser(told | untold) == told


def test_the_part_of_an_url_behind_its_hash_is_not_sent() -> None:
    assert _ask().url == "http://page.example/words"
