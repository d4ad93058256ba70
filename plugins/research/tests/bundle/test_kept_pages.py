"""scrape_page and search_and_scrape share the pages that they have read: who finds which, and for how long."""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ferrule import WrapperContext
from ferrule_dev.testing import Environment, Server, context
from ferrule_research.page.content import PageContent
from ferrule_research.page.kept_pages import KeptPages
from ferrule_research.page.metadata.authors import Name
from ferrule_research.page.metadata.bibliography import Bibliography, Place
from ferrule_research.page.metadata.dates import Date
from ferrule_research.page.metadata.embedded import EmbeddedData
from ferrule_research.page.page_record import read_content, write_content
from ferrule_testkit.programs.redis_server import RedisServer
from ferrule_testkit.web.research_web import Web

CACHED = {"FERRULE_WRAPPERS": "cache"}
HEAD = (
    '<meta name="citation_title" content="Umbrella history"><meta name="citation_author" content="Ek, Ann">'
    '<meta name="citation_journal_title" content="Journal of Rain"><meta name="citation_volume" content="7">'
)
PAGE = f"<!DOCTYPE html><title>Umbrella history</title>{HEAD}<main><h1>Umbrella history</h1>" + "".join(
    f"<p>{number}. The umbrella has a long history in many countries, and was made against the sun.</p>"
    for number in range(20)
)
WHOLE = PageContent(
    "https://a.example/",
    "html",
    "Text \N{SNOWMAN}\n\n- and more",
    Bibliography(
        "T", [Name("Ek", "Ann", "Jr."), Name("WHO", literal=True)], "S", Date(2024, 3), frozenset({"Article"}), "J",
        Place("1", "2", "3", "4", "10.1000/x", "P"),
    ),
    EmbeddedData([{"n": 1.5, "l": [None]}], {"og:title": "T"}, {"citation_title": "T"}, {"x": "y"}, ["/f"], "en"),
    "html",
)  # fmt: skip


def scrape(web: Web, url: str, **environment: str) -> dict[str, Any]:
    answer: dict[str, Any] = web.answer("scrape_page", {"url": url}, CACHED | environment)
    return answer


def bundle(web: Web, query: str = "umbrella history", **environment: str) -> dict[str, Any]:
    answer: dict[str, Any] = web.answer("search_and_scrape", {"query": query}, CACHED | environment)
    return answer


def count(server: Server) -> int:
    """How often the page was fetched."""
    return sum(one.target == "/a" for one in server.requests)


@pytest.fixture
def url(server: Server, find: Callable[..., list[str]]) -> str:
    """The address of a page that the search finds."""
    server.page("/a", PAGE)
    return find("/a")[0]


@pytest.mark.slow
@pytest.mark.process
def test_a_page_that_scrape_page_has_read_is_not_fetched_for_a_search(web: Web, server: Server, url: str) -> None:
    scraped = scrape(web, url)
    answer = bundle(web)
    assert count(server) == 1
    (source,) = answer["sources"]
    assert (source["content"], source["title"], source["author"]) == (scraped["content"], "Umbrella history", "Ann Ek")
    assert (answer["summary"]["urlsScraped"], answer["summary"]["urlsKept"]) == (1, 1)


@pytest.mark.slow
@pytest.mark.process
def test_a_page_that_a_search_has_read_is_not_fetched_for_scrape_page(web: Web, server: Server, url: str) -> None:
    assert bundle(web)["summary"]["urlsKept"] == 0
    scraped = scrape(web, url)
    assert count(server) == 1
    page = scraped["_meta"].pop("page")
    assert (page["cached"], page["ageSeconds"] >= 0) == (True, True)
    fresh = web.answer("scrape_page", {"url": url})
    del scraped["_meta"], scraped["estimatedTokens"], fresh["estimatedTokens"]
    assert scraped == fresh


@pytest.mark.slow
@pytest.mark.process
def test_an_answer_of_a_kept_page_is_not_kept_for_longer_than_the_page(web: Web, server: Server, url: str) -> None:
    bundle(web)
    for _ in range(2):
        assert scrape(web, url)["_meta"]["cache"]["cached"] is False
    assert bundle(web, "umbrella")["summary"]["urlsKept"] == 1
    assert bundle(web, "umbrella")["_meta"]["cache"]["maxAgeSeconds"] <= 60
    assert count(server) == 1


@pytest.mark.slow
@pytest.mark.process
def test_nothing_is_shared_where_the_cache_is_off(web: Web, server: Server, url: str) -> None:
    scrape(web, url, FERRULE_WRAPPERS="")
    assert bundle(web, FERRULE_WRAPPERS="")["summary"]["urlsKept"] == 0
    web.configure("[wrappers.cache.tools.scrape_page]\nseconds = 0\n")
    bundle(web)
    scrape(web, url)
    assert count(server) == 4


@pytest.mark.slow
@pytest.mark.process
def test_a_time_that_no_clock_has_costs_no_page(web: Web, server: Server, url: str) -> None:
    web.configure("[wrappers.cache.tools.scrape_page]\nseconds = inf\n")
    assert bundle(web)["summary"]["urlsScraped"] == 1
    assert bundle(web, "umbrella")["summary"]["urlsKept"] == 0
    assert count(server) == 2


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize(
    "table",
    [
        '[tools.search_and_scrape]\nuser_agent = "Other/1.0"\n',
        '[tools.search_and_scrape.permissions.added]\nnetwork = ["intranet.example:443"]\n',
    ],
    ids=["agent", "rights"],
)
def test_a_tool_with_other_settings_or_rights_fetches_the_page_itself(
    web: Web, server: Server, url: str, table: str
) -> None:
    web.configure(table)
    scrape(web, url)
    assert bundle(web)["summary"]["urlsKept"] == 0
    assert count(server) == 2


@pytest.mark.slow
@pytest.mark.process
def test_a_tool_that_may_not_fetch_the_page_does_not_find_it_either(web: Web, server: Server, url: str) -> None:
    del web.environment["FERRULE_FETCH_ALLOW"]
    web.configure('[tools.scrape_page]\nallow = "loopback"\n')
    scrape(web, url)
    answer = bundle(web)
    assert answer["sources"] == []
    assert [one["kind"] for one in answer["scrapeFailures"]] == ["validation"]
    assert count(server) == 1


@pytest.mark.slow
@pytest.mark.process
def test_what_is_no_page_in_its_place_is_read_anew(web: Web, server: Server, url: str) -> None:
    scrape(web, url)
    kept = [one for one in (Path(web.environment["FERRULE_STATE"]) / "pages").glob("??/*") if one.is_file()]
    assert len(kept) == 1
    expires = kept[0].stat().st_mtime
    kept[0].write_bytes(b'{"shape": 1, "instant": 5, "page": {"url": []}}')
    os.utime(kept[0], (expires, expires))
    assert bundle(web)["summary"]["urlsKept"] == 0
    assert count(server) == 2


@pytest.mark.slow
@pytest.mark.process
def test_machines_with_one_redis_server_share_their_pages(web: Web, server: Server, url: str, tmp_path: Path) -> None:
    with RedisServer(tmp_path) as redis:
        scrape(web, url, FERRULE_REDIS=redis.url)
        other = {"FERRULE_REDIS": redis.url, "FERRULE_STATE": str(tmp_path / "other")}
        assert bundle(web, **other)["summary"]["urlsKept"] == 1
        assert not (tmp_path / "other" / "pages").exists() or not [*(tmp_path / "other" / "pages").glob("??")]
    assert count(server) == 1
    assert bundle(web, "umbrella", **other)["status"] == "complete"  # without the server


def test_a_page_comes_back_as_it_was() -> None:
    assert read_content(write_content(WHOLE, 5.5)) == (WHOLE, 5.5)


@pytest.mark.parametrize("data", [b"", b"{}", b"[]", b'{"shape": 1}', write_content(WHOLE, 1)[:-9], b'{"shape": 2}'])
def test_bytes_that_hold_no_page_are_none(data: bytes) -> None:
    assert read_content(data) is None


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("text",), 5), (("url",), []), (("kind",), None), (("quality",), ["complete"]), (("same_as_fetched",), "no"),
        (("bibliography", "title"), {}), (("bibliography", "authors"), [[1, 2]]), (("bibliography", "date"), ["x"]),
        (("bibliography", "date"), [2024, 13]), (("bibliography", "place"), [1]), (("bibliography", "types"), [1]),
        (("embedded", "json_ld"), "x"), (("embedded", "open_graph"), {"og:title": 1}), (("embedded", "frames"), [None]),
    ],
)  # fmt: skip
def test_a_page_whose_fields_are_of_other_types_is_none(place: tuple[str, ...], value: object) -> None:
    document = json.loads(write_content(WHOLE, 5.5))
    *above, name = place
    part = document["page"]
    for one in above:
        part = part[one]
    assert name in part
    part[name] = value
    assert read_content(json.dumps(document).encode()) is None


@pytest.fixture
def keep(ferrule_environment: Environment) -> Callable[..., KeptPages]:
    """The kept pages of a call, with a table of the cache."""

    def keep(**scraping: object) -> KeptPages:
        wrapped = WrapperContext(context("scrape_page"), {"cache": {"tools": {"scrape_page": scraping}}})
        wrapped.note("cache", {"cached": False})
        kept = KeptPages.of(wrapped)
        assert kept
        return kept

    return keep


def test_a_page_is_found_as_long_as_answers_are_kept(
    keep: Callable[..., KeptPages], monkeypatch: pytest.MonkeyPatch
) -> None:
    keep().keep(WHOLE.url, WHOLE)
    now = time.time()
    for later, seconds, is_found in ((0, 1800, True), (1790, 1800, True), (61, 60, False), (-100, 1800, False)):
        monkeypatch.setattr("ferrule_research.page.kept_pages.time.time", lambda later=later: now + later)
        found = keep(seconds=seconds).find(WHOLE.url)
        assert (found is not None) is is_found, later
        assert found is None or found.content == WHOLE
    monkeypatch.undo()


@pytest.mark.parametrize("change", [{"quality": "partial"}, {"browser_failure": "It does not start."}])
def test_what_the_next_call_may_read_more_of_is_not_kept(
    keep: Callable[..., KeptPages], change: dict[str, str]
) -> None:
    keep().keep(WHOLE.url, WHOLE._replace(**change))  # type: ignore[arg-type] # fields of texts alone
    assert keep().find(WHOLE.url) is None


def test_a_call_without_time_to_wait_keeps_no_page(keep: Callable[..., KeptPages]) -> None:
    hurried = WrapperContext(context("scrape_page", seconds=2), {"cache": {}})
    hurried.note("cache", {"cached": False})
    kept = KeptPages.of(hurried)
    assert kept
    kept.keep(WHOLE.url, WHOLE)
    assert keep().find(WHOLE.url) is None
    keep().keep(WHOLE.url, WHOLE)
    assert kept.find(WHOLE.url)


def test_a_call_without_the_cache_has_no_kept_pages(ferrule_environment: Environment) -> None:
    assert KeptPages.of(context("scrape_page")) is None
    assert KeptPages.of(WrapperContext(context("scrape_page"), {"timing": {}})) is None
