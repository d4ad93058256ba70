"""What a call asks GDELT for, what it makes of the answer, and of refusals in plain text."""

from typing import Any

import pytest

import ferrule_gdelt
from ferrule_dev.testing import Server
from ferrule_testkit.search.kinds import gdelt_articles, sends
from ferrule_testkit.search.provider_contract import Error, Search
from ferrule_testkit.search.server import asked, some_hits

pytestmark = pytest.mark.process


def test_the_request_is_as_the_reference_says(server: Server, search: Search) -> None:
    server.route("*", sends(gdelt_articles(some_hits(3, "www.a.example"))))
    found = search(
        query='"söme words"',
        count=2,
        time_range="week",
        sort_by="date",
        language="DE",
        country="gb",
        allowed_domains=["a.example", "b.example"],
        blocked_domains=["c.example"],
    )
    assert found["count"] == 2
    (request,) = asked(server)
    assert request == {
        "query": '"söme words" sourcelang:german sourcecountry:unitedkingdom (domain:a.example OR domain:b.example) '
        "-domain:c.example",
        "mode": "artlist",
        "format": "json",
        "maxrecords": "2",
        "timespan": "1w",
        "sort": "datedesc",
    }


def test_an_article_has_a_date_and_a_source_and_no_text(server: Server, search: Search) -> None:
    server.route("*", sends(gdelt_articles(some_hits(1))))
    assert search()["results"] == [
        {
            "title": "Title 0",
            "url": "https://www.example.com/0",
            "snippet": "",
            "published": "2026-01-02T03:04:05Z",
            "source": "www.example.com",
        }
    ]
    assert asked(server)[0]["sort"] == "hybridrel"


@pytest.mark.parametrize(
    "document",
    [{}, {"articles": []}, {"articles": None}, {"articles": [5, {"url": "javascript:x"}]}],
    ids=["no articles", "none", "null", "no web pages"],
)
def test_nothing_found_is_no_error(server: Server, search: Search, document: dict[str, Any]) -> None:
    server.route("*", sends(document))
    assert search() == {"success": True, "results": [], "count": 0}


def test_a_date_of_another_form_is_left_out(server: Server, search: Search) -> None:
    document = gdelt_articles(some_hits(2))
    document["articles"][0]["seendate"] = "yesterday"
    del document["articles"][1]["seendate"]
    server.route("*", sends(document))
    assert [one.get("published") for one in search()["results"]] == [None, None]


@pytest.mark.parametrize(
    ("body", "status", "code", "told"),
    [
        (b"Your query was too short or too long.", 200, "INVALID_INPUT", "Your query was too short or too long"),
        (b"Timespan is too short.", 200, "INVALID_INPUT", "Timespan is too short"),
        (b"Something else went wrong.", 200, "API_ERROR", "Something else went wrong"),
        (b"<html>Bad gateway</html>", 502, "API_ERROR", "HTTP 502"),
        (b"<html>Sign in</html>", 200, "API_ERROR", "something else than a JSON object"),
        (b"", 200, "API_ERROR", "something else than a JSON object"),
        (b'{"articles": [{"title": "\xe9"', 200, "API_ERROR", "GDELT"),
    ],
)
def test_a_refusal_is_told_in_its_words(
    server: Server, error: Error, body: bytes, status: int, code: str, told: str
) -> None:
    server.route("*", lambda exchange: exchange.answer(body, "text/html", status=status))
    failure = error()
    assert failure.code == code
    assert told in failure.message


@pytest.mark.parametrize(
    ("arguments", "finding"),
    [
        ({"query": "q", "language": "xx"}, "language: GDELT has no 'xx'"),
        ({"query": "q", "country": "Germany"}, "country: GDELT has no 'Germany'"),
        ({"query": "q", "allowed_domains": [f"{n}.example" for n in range(11)]}, "10 domains"),
        ({"query": " "}, "query: it is blank"),
    ],
)
def test_what_gdelt_cannot_serve_is_told_before_it_is_asked(arguments: dict[str, Any], finding: str) -> None:
    (found,) = ferrule_gdelt.validate(arguments)
    assert finding in found


def test_calls_keep_the_pace_that_its_pages_name(server: Server, search: Search, error: Error) -> None:
    """The second one has its turn in five seconds, which is behind the deadline of these calls or waited for."""
    server.route("*", sends(gdelt_articles(some_hits(1))))
    search()
    failure = error(seconds=3)
    assert failure.code == "RATE_LIMIT"
    assert "GDELT allows 1 in 5 seconds" in failure.message
    assert len(server.requests) == 1
