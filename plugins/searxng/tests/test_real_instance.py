"""The tool with a real SearXNG, whose engines ask a server of the tests."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from ferrule_dev.testing import Exchange, Server, refused_port
from ferrule_testkit.programs.redis_server import RedisServer
from ferrule_testkit.search.provider_contract import Error, Search, numbers
from ferrule_testkit.search.searxng import Instance, engine, find_pages
from ferrule_testkit.search.server import asked

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("searxng")]
_RESULTS = 25
_SILENT = "Engines of SearXNG that gave no answer: silent ("


def find_articles(exchange: Exchange) -> None:
    """A wiki: one article, and when it was written."""
    found = {"title": "Rain", "snippet": "It rains.", "timestamp": "2026-01-02T03:04:05Z"}
    exchange.answer(json.dumps({"query": {"search": [found]}}).encode(), "application/json")


@pytest.fixture(scope="module")
def engines() -> Iterator[Server]:
    """What the engines ask."""
    with Server() as server:
        server.route(
            "*", lambda exchange: (find_articles if "api.php" in exchange.path else find_pages(_RESULTS))(exchange)
        )
        yield server


@pytest.fixture(scope="module")
def instance(engines: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    """An instance with an engine, and with two more where a query names them: a wiki, and one that is down."""
    silent = engine("silent", engines, search_url=f"http://127.0.0.1:{refused_port()}/?q={{query}}", disabled=True)
    wiki = {
        "name": "wiki",
        "engine": "mediawiki",
        "shortcut": "wiki",
        "categories": "general",
        "base_url": f"{engines.url}/",
        "api_path": "api.php",
        "enable_http": True,
        "disabled": True,
    }
    with Instance(tmp_path_factory.mktemp("searxng"), [engine("web", engines), wiki, silent]) as instance:
        yield instance


@pytest.fixture(autouse=True)
def _instance(_settings: None, instance: Instance, engines: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test asks the instance, and sees what the engines were asked for it."""
    monkeypatch.setenv("FERRULE_SEARXNG_URL", instance.url)
    engines.requests.clear()


def test_paging_by_offset_and_by_page_gives_every_result_once(search: Search) -> None:
    assert [n for offset in range(0, 28, 7) for n in numbers(search(offset=offset, count=7))] == list(range(_RESULTS))
    assert numbers(search(page=3)) == list(range(20, 25))
    assert search(page=9) == {"success": True, "results": [], "count": 0}


def test_what_is_asked_for_reaches_the_engines(engines: Server, search: Search) -> None:
    found = search(query="rain & snow", time_range="week", language="de", safe_search="strict", count=1)
    assert found["results"] == [{"title": "Title 0", "url": "https://docs.example.org/0", "snippet": "a < 0"}]
    assert asked(engines) == [{"q": "rain & snow", "page": "1", "lang": "de", "hours": "168", "filter": "strict"}]


@pytest.mark.parametrize(("time_range", "hours"), [("day", "24"), ("month", "720"), ("year", "8760")])
def test_every_time_range_is_one_of_the_instance(engines: Server, search: Search, time_range: str, hours: str) -> None:
    search(time_range=time_range, count=1)
    assert [one["hours"] for one in asked(engines)] == [hours]


def test_domains_reach_the_engines_as_operators_and_filter_what_they_overlook(engines: Server, search: Search) -> None:
    assert numbers(search(allowed_domains=["example.org"], count=7)) == list(range(0, 14, 2))
    assert {one["q"] for one in asked(engines)} == {"some words site:example.org"}
    assert numbers(search(blocked_domains=["docs.example.org"], count=5)) == list(range(1, 10, 2))


def test_a_date_is_told_where_the_engine_says_one(search: Search) -> None:
    (found,) = search(query="!wiki rain")["results"]
    assert (found["title"], found["snippet"], found["published"]) == ("Rain", "It rains.", "2026-01-02T03:04:05")


def test_an_engine_that_is_down_is_told_and_is_a_failure_where_nothing_else_was_found(
    search: Search, error: Error
) -> None:
    found = search(query="!web !silent rain", count=3)
    assert numbers(found) == [0, 1, 2]
    assert found["incomplete"].startswith(_SILENT)
    failure = error(query="!silent rain")
    assert failure.code == "API_ERROR"
    assert failure.message.startswith(_SILENT)


def test_what_the_instance_refuses_is_told_in_its_words(error: Error) -> None:
    refused = error(language="klingon")
    assert refused.message == "SearXNG answered with HTTP 400: Invalid value klingon for parameter language."
    elsewhere = error(query="!!g rain")
    assert elsewhere.message == "SearXNG answered with HTTP 302: it leads elsewhere, which is not followed."


def test_an_address_below_which_there_is_no_instance_says_so(
    engines: Server, error: Error, monkeypatch: pytest.MonkeyPatch, instance: Instance
) -> None:
    monkeypatch.setenv("FERRULE_SEARXNG_URL", f"{instance.url}/elsewhere")
    failure = error()
    assert failure.message == "SearXNG answered with HTTP 404: Not Found."
    assert "Set FERRULE_SEARXNG_URL" in str(failure.hint)


def test_an_instance_without_json_and_one_with_a_limiter_say_what_to_change(
    engines: Server, tmp_path: Path, search: Search, error: Error, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("html", "limited"):
        (tmp_path / name).mkdir()
    with Instance(tmp_path / "html", [engine("web", engines)], formats=["html"]) as instance:
        monkeypatch.setenv("FERRULE_SEARXNG_URL", instance.url)
        failure = error()
    assert (failure.code, failure.message) == ("API_ERROR", "SearXNG answered with HTTP 403: Forbidden.")
    assert failure.hint == "Add json to search.formats in the instance's settings.yml, and start it again."
    with (
        RedisServer(tmp_path) as redis,
        Instance(tmp_path / "limited", [engine("web", engines)], redis_url=redis.url) as instance,
    ):
        monkeypatch.setenv("FERRULE_SEARXNG_URL", instance.url)
        assert [search(count=1)["count"] for _ in range(4)] == [1, 1, 1, 1]
        failure = error(count=1)
    assert failure.code == "RATE_LIMIT"
    assert str(failure.hint).startswith("The limiter of the instance takes 4 searches an hour")
