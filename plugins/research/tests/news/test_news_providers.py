"""News by Google, SearXNG and GDELT, each in its own words."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ferrule_testkit.search.kinds import gdelt_articles, sends
from ferrule_testkit.search.searxng import searxng_document
from ferrule_testkit.search.server import GOOGLE_PATH, google_document, some_hits
from ferrule_testkit.web.kinds_web import KindsWeb, ignored, kinds_web

pytestmark = pytest.mark.process

SEARXNG_PATH = "/searxng/search"
HITS = some_hits(6, "www.paper.example")
NO_KEYS = dict.fromkeys(("BRAVE_API_KEY", "GOOGLE_SEARCH_API_KEY", "TAVILY_API_KEY", "FERRULE_SEARXNG_URL"), "")


@pytest.fixture
def web(tmp_path: Path) -> Iterator[KindsWeb]:
    with kinds_web("news_search", tmp_path) as web:
        web.server.route(GOOGLE_PATH, sends(google_document(HITS)))
        web.server.route(SEARXNG_PATH, sends(searxng_document(HITS)))
        web.server.route("/gdelt", sends(gdelt_articles(HITS)))
        yield web


def test_gdelt_answers_where_no_key_is_set(web: KindsWeb) -> None:
    document = web.found(
        num_results=1, country="DE", language="de", time_range="month", sort_by="date", safe="off", environment=NO_KEYS
    )
    assert document["articles"] == [
        {
            "title": "Title 0",
            "url": "https://www.paper.example/0",
            "source": "www.paper.example",
            "snippet": "",
            "publishedAt": "2026-01-02T03:04:05Z",
        }
    ]
    assert web.asked("/gdelt") == [
        {
            "query": "some words sourcelang:german sourcecountry:germany",
            "mode": "artlist",
            "format": "json",
            "maxrecords": "4",
            "timespan": "1months",
            "sort": "datedesc",
        }
    ]
    assert ignored(document) == {"safe": "GDELT cannot be asked for it"}


def test_gdelt_is_asked_for_a_source_by_an_operator_and_a_year_is_told_to_be_too_long(web: KindsWeb) -> None:
    document = web.found(provider="gdelt", news_source="paper.example", time_range="year")
    (asked,) = web.asked("/gdelt")
    assert (asked["query"], asked["sort"]) == ("some words domain:paper.example", "hybridrel")
    assert "timespan" not in asked
    assert document["resultCount"] == 5
    assert ignored(document)["time_range"] == "GDELT does not know 'year'"


def test_google_is_asked_by_date_and_its_answer_warns_that_these_are_pages_of_any_kind(web: KindsWeb) -> None:
    document = web.found(provider="google", sort_by="date", time_range="day", country="US")
    (asked,) = web.asked(GOOGLE_PATH)
    assert (asked["sort"], asked["dateRestrict"], asked["gl"], asked["safe"]) == ("date", "d1", "us", "active")
    assert "no index of news" in document["warning"]
    assert ignored(document) == {}


def test_searxng_is_asked_for_its_category_of_news(web: KindsWeb) -> None:
    document = web.found(provider="searxng", num_results=2, time_range="day", language="de", country="DE")
    (asked,) = web.asked(SEARXNG_PATH)
    assert (asked["categories"], asked["time_range"], asked["language"]) == ("news", "day", "de")
    assert document["articles"][0]["publishedAt"] == "2026-01-02T03:04:05"
    assert ignored(document) == {"country": "SearXNG cannot be asked for it"}
