"""An export whose sources are looked for: which are there, which are gone, and what is said of others."""

import json
import threading
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from ferrule_dev.testing import Exchange, Server, context, refused_port
from ferrule_research.sessions import record_sources
from ferrule_testkit import PATIENCE_SECONDS

pytestmark = pytest.mark.process

Call = Callable[..., dict[str, Any]]
COPY = "https://web.archive.example/web/2020/page_(1)"
AT_ONCE = 8


@pytest.fixture(autouse=True)
def _settings(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FERRULE_FETCH_ALLOW", "loopback")
    monkeypatch.setenv("FERRULE_ARCHIVE_ENDPOINT", f"{server.url}/archive")


@pytest.fixture
def export(call: Call, session: str) -> Callable[..., dict[str, dict[str, Any]]]:
    """Export a session with these sources, verified; the sources by their paths."""

    def export(*urls: str, **arguments: Any) -> dict[str, dict[str, Any]]:
        record_sources(session, [{"url": url, "title": "T"} for url in urls])
        answer = call("research_export", sessionId=session, format="json", verify_links=True, **arguments)
        return {urlsplit(one["url"]).path: one for one in answer["document"]["sources"]}

    return export


def keep_copies(server: Server, *paths: str) -> None:
    """Have the archive keep a copy of these pages."""

    def answer(exchange: Exchange) -> None:
        url = parse_qs(urlsplit(exchange.path).query)["url"][0]
        closest = {"available": True, "url": COPY} if urlsplit(url).path in paths else {}
        body = json.dumps({"archived_snapshots": {"closest": closest} if closest else {}})
        exchange.answer(body.encode(), "application/json")

    server.route("/archive/wayback/available", answer)


def test_pages_are_there_or_gone_or_it_is_not_known(
    server: Server, export: Callable[..., dict[str, dict[str, Any]]]
) -> None:
    keep_copies(server, "/gone", "/silent")
    server.page("/there", "<h1>Here</h1>")
    server.route("/picture", lambda exchange: exchange.answer(b"\x89PNG" + b"0" * (1 << 16), "image/png"))
    for path, status in (("/gone", 404), ("/lost", 410), ("/closed", 403)):
        server.page(path, "no", status=status)
    nobody = f"http://127.0.0.1:{refused_port()}/silent"
    found = export(*(server.url + path for path in ("/there", "/picture", "/gone", "/lost", "/closed")), nobody)
    named = ("httpStatus", "verified", "archivedUrl")
    assert {path: tuple(one.get(name) for name in named) for path, one in found.items()} == {
        "/there": (200, True, None),
        "/picture": (200, True, None),
        "/gone": (404, False, COPY),
        "/lost": (410, False, None),
        "/closed": (403, None, None),
        "/silent": (None, None, COPY),
    }
    assert all(one["verifiedAt"].endswith("Z") for one in found.values())


@pytest.mark.parametrize(
    "url",
    [
        "http://a.example/\n\u202e)](javascript:1)",
        "https://a.example/" + "x" * 200_000,
        "http://user:pw@a.example/",
        "http://[a.example/",
        "javascript:alert(1)",
        5,
    ],
)
def test_what_an_archive_says_and_is_no_address_is_no_copy(
    server: Server, export: Callable[..., dict[str, dict[str, Any]]], url: object
) -> None:
    answer = json.dumps({"archived_snapshots": {"closest": {"available": True, "url": url}}})
    server.route("/archive/wayback/available", lambda exchange: exchange.answer(answer.encode(), "application/json"))
    server.page("/gone", "no", status=404)
    (found,) = export(f"{server.url}/gone").values()
    assert (found["httpStatus"], found.get("archivedUrl")) == (404, None)


def test_an_address_that_may_not_be_asked_is_not(
    server: Server, export: Callable[..., dict[str, dict[str, Any]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FERRULE_FETCH_ALLOW")
    found = export(f"{server.url}/there")
    assert "verifiedAt" not in found["/there"]
    assert server.requests == []


def test_pages_are_asked_for_side_by_side(server: Server, export: Callable[..., dict[str, dict[str, Any]]]) -> None:
    """Each is answered only when all have been asked for."""
    all_of_them = threading.Barrier(AT_ONCE)

    def answer(exchange: Exchange) -> None:
        all_of_them.wait(PATIENCE_SECONDS)
        exchange.answer(b"<h1>Here</h1>")

    server.route("*", answer)
    found = export(*(f"{server.url}/{number}" for number in range(AT_ONCE)), within=context("research_export"))
    assert [one["verified"] for one in found.values()] == [True] * AT_ONCE


def test_a_call_without_time_gives_the_document_all_the_same(
    server: Server, export: Callable[..., dict[str, dict[str, Any]]]
) -> None:
    found = export(f"{server.url}/there", within=context("research_export", seconds=1))
    assert "verifiedAt" not in found["/there"]


@pytest.mark.parametrize("form", ["json", "markdown"])
def test_a_later_part_has_its_own_sources_asked_for_alone(server: Server, call: Call, session: str, form: str) -> None:
    server.page("*", "<h1>Here</h1>")
    record_sources(session, [{"url": f"{server.url}/{number}", "title": "T"} for number in range(5)])
    whole = call("research_export", sessionId=session, format=form)
    before = len(whole["document"]["steps"]) if form == "json" else 1 + whole["stepCount"]
    answer = call("research_export", sessionId=session, format=form, verify_links=True, offset=before + 3)
    assert {one.target for one in server.requests} == {"/3", "/4"}
    assert str(answer["document"]).count("verifiedAt" if form == "json" else "there (HTTP 200)") == 2


def test_markdown_says_it_and_links_the_copy(server: Server, call: Call, session: str) -> None:
    keep_copies(server, "/gone")
    server.page("/gone", "no", status=404)
    record_sources(session, [{"url": f"{server.url}/gone", "title": "T"}])
    text = call("research_export", sessionId=session, verify_links=True)["document"]
    assert ", gone (HTTP 404) at " in text
    assert f"[copy](<{COPY}>)" in text
    assert "gone" not in call("research_export", sessionId=session)["document"].replace("/gone", "")


def test_a_bibliography_has_no_place_for_it(server: Server, call: Call, session: str) -> None:
    record_sources(session, [{"url": f"{server.url}/there", "title": "T"}])
    answer = call("research_export", sessionId=session, format="ris", verify_links=True)
    assert [one["name"] for one in answer["ignoredParameters"]] == ["verify_links"]
    assert server.requests == []
