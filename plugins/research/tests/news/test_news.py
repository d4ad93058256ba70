"""What a search for news asks of its providers, and what it answers."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ferrule_testkit.search.kinds import BRAVE_NEWS_PATH, brave_news, sends
from ferrule_testkit.search.posted import tavily_document
from ferrule_testkit.search.server import some_hits
from ferrule_testkit.web.kinds_web import KindsWeb, ignored, kinds_web
from ferrule_testkit.web.research_web import answers

pytestmark = pytest.mark.process

HITS = some_hits(30, "www.paper.example")


@pytest.fixture
def web(tmp_path: Path) -> Iterator[KindsWeb]:
    with kinds_web("news_search", tmp_path) as web:
        web.server.route(BRAVE_NEWS_PATH, sends(brave_news(HITS)))
        web.server.route("/tavily", sends(tavily_document(HITS[:20])))
        yield web


def routing(document: dict[str, Any]) -> dict[str, Any]:
    told: dict[str, Any] = document["_meta"]["routing"]
    return told


@pytest.mark.slow
def test_brave_is_asked_at_its_news_and_the_answer_has_what_the_page_lists(web: KindsWeb) -> None:
    document = web.found(num_results=2, country="de", language="de", safe="strict")
    assert document == {
        "articles": [
            {
                "title": f"Title {n}",
                "url": f"https://www.paper.example/{n}",
                "source": "www.paper.example",
                "snippet": f"Text {n}",
                "publishedAt": "2026-01-02T03:04:05",
            }
            for n in range(2)
        ],
        "query": "some words",
        "resultCount": 2,
        "trust": "untrusted-external-content",
        "_meta": {
            "routing": {
                "provider_used": "brave",
                "providers_attempted": ["brave"],
                "requests": {"brave": 1},
                "fallback": False,
            }
        },
    }
    assert web.asked(BRAVE_NEWS_PATH) == [
        {
            "q": "some words",
            "count": "5",
            "offset": "0",
            "freshness": "pw",
            "safesearch": "strict",
            "country": "DE",
            "search_lang": "de",
        }
    ]


def test_an_article_has_the_kind_of_source_that_its_host_is(web: KindsWeb) -> None:
    urls = ("https://www.reuters.com/a", "https://reuters.com.paper.example/b", "https://blog.firm.example/c")
    hits = [{"title": "T", "url": url, "description": "D"} for url in urls]
    web.server.route(BRAVE_NEWS_PATH, answers({"results": hits}))
    articles = web.found(provider="brave")["articles"]
    assert [one.get("sourceType") for one in articles] == ["news_publication", None, "blog"]


def test_tavily_is_asked_for_its_topic_news_and_what_it_cannot_do_is_told(web: KindsWeb) -> None:
    document = web.found(provider="tavily", num_results=30, language="de", country="DE", time_range="day")
    assert document["resultCount"] == 20
    assert document["articles"][0]["publishedAt"] == "2026-01-02T03:04:05Z"
    (asked,) = web.asked("/tavily")
    assert (asked["topic"], asked["time_range"], asked["max_results"]) == ("news", "day", 20)
    assert ignored(document) == {
        "num_results": "Tavily has 20 results at most for a query",
        **dict.fromkeys(("safe", "language", "country"), "Tavily cannot be asked for it"),
    }


@pytest.mark.slow
def test_what_was_found_is_a_source_of_the_session(web: KindsWeb) -> None:
    step = {"searchStep": "Look.", "stepNumber": 1, "nextStepNeeded": True}
    session = web.answer("sequential_search", step)["sessionId"]
    assert "sessionId" not in ignored(web.found(num_results=2, sessionId=session))
    overview = web.answer("get_research_session", {"sessionId": session})
    assert [(one["title"], one["relevance"], one["date"]) for one in overview["sources"]] == [
        ("Title 0", "found", "2026-01-02T03:04:05"),
        ("Title 1", "found", "2026-01-02T03:04:05"),
    ]
    document = web.found(sessionId="nonsense")
    assert set(ignored(document)) == {"sessionId"}
    assert document["_meta"]["cacheable"] is False


@pytest.mark.slow
def test_where_brave_refuses_tavily_answers(web: KindsWeb) -> None:
    web.server.route(BRAVE_NEWS_PATH, answers({"error": {"code": "x", "detail": "no"}}, status=403))
    order = {"FERRULE_SEARCH_ROUTING": "brave,tavily"}
    told = routing(web.found(environment=order))
    assert (told["provider_used"], told["providers_attempted"]) == ("tavily", ["brave", "tavily"])
    assert told["fallback_reason"] == "brave: auth_required"


@pytest.mark.slow
def test_a_source_is_searched_alone(web: KindsWeb) -> None:
    document = web.found(news_source="paper.example", num_results=3)
    assert document["resultCount"] == 3
    assert web.asked(BRAVE_NEWS_PATH)[0]["q"] == "some words site:paper.example"
    assert web.found(news_source="other.example")["hints"]["filtersApplied"] == ["news_source", "time_range"]


@pytest.mark.slow
def test_an_hour_is_asked_for_as_a_day_and_what_is_older_is_left_out(web: KindsWeb) -> None:
    now = datetime.now(UTC).replace(microsecond=0)
    page = brave_news(HITS[:4])
    ages = (timedelta(minutes=5), timedelta(hours=3), timedelta(days=2))
    for hit, age in zip(page["results"], ages, strict=False):
        hit["page_age"] = (now - age).isoformat()
    page["results"][3] |= {"page_age": None, "age": None}
    web.server.route(BRAVE_NEWS_PATH, sends(page))
    document = web.found(time_range="hour")
    assert [one["title"] for one in document["articles"]] == ["Title 0", "Title 3"]
    assert web.asked(BRAVE_NEWS_PATH)[0]["freshness"] == "pd"
    assert ignored(document) == {"time_range": "Brave Search knows no shorter time than a day, and is asked for that"}


@pytest.mark.slow
def test_the_newest_come_first_where_that_is_asked_for(web: KindsWeb) -> None:
    page = brave_news(HITS[:3])
    for hit, date in zip(page["results"], ("2026-01-01T00:00:00", "2026-01-03T00:00:00", None), strict=True):
        hit |= {"page_age": date, "age": None}
    web.server.route(BRAVE_NEWS_PATH, sends(page))
    document = web.found(sort_by="date")
    assert [one["title"] for one in document["articles"]] == ["Title 1", "Title 0", "Title 2"]
    assert "order by date" in ignored(document)["sort_by"]
    assert ignored(web.found(sort_by="relevance")) == {}


def test_a_provider_without_news_is_not_asked(web: KindsWeb) -> None:
    failure = web.failed(provider="exa", environment={"EXA_API_KEY": "0e8a3k3y-0f7h-e7e5-75ab-0123456789ab"})
    assert (failure["error_code"], failure["kind"]) == ("INVALID_INPUT", "validation")
    assert failure["error"].startswith("exa does not search for news. Supported providers: brave")
    unknown = web.failed(provider="bing")
    assert unknown["error"].startswith("Unknown search provider 'bing'.")
    assert "exa" not in unknown["alternatives"]
    alone = web.failed(environment={"FERRULE_SEARCH_ROUTING": "exa"})
    assert (alone["kind"], alone["error_code"]) == ("config", "CONFIG_ERROR")
    assert web.server.requests == []


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"query": " "}, "query: it is blank"),
        ({"query": "q" * 501}, "500"),
        ({"news_source": "https://paper.example/today"}, "news_source"),
        ({"time_range": "decade"}, "time_range"),
        ({"sort_by": "size"}, "sort_by"),
        ({"safe": "medium"}, "safe"),
        ({"language": "german"}, "language"),
        ({"country": "Germany"}, "country"),
    ],
)
def test_an_argument_that_is_wrong_is_an_error_of_the_kind_validation(
    web: KindsWeb, arguments: dict[str, Any], told: str
) -> None:
    failure = web.failed(**arguments)
    assert (failure["error_code"], failure["kind"], failure["retryable"]) == ("INVALID_INPUT", "validation", False)
    assert told in failure["error"]


@pytest.mark.slow
def test_more_than_fifty_are_cut_to_fifty_and_the_number_is_told(web: KindsWeb) -> None:
    web.server.route(BRAVE_NEWS_PATH, sends(brave_news(some_hits(50))))
    document = web.found(num_results=90)
    assert (document["resultCount"], document["requestedNumResults"]) == (50, 90)
