"""What a call asks Tavily for, and what it makes of the answer."""

from typing import Any

import pytest

import ferrule_tavily
from ferrule_dev.testing import Server
from ferrule_testkit.search.posted import TAVILY_KEY, Tavily, bodies, tavily_document, tavily_error
from ferrule_testkit.search.provider_contract import Answer, Error, Search, mixed_hits, numbers
from ferrule_testkit.search.server import some_hits

pytestmark = pytest.mark.process

ALWAYS = {"search_depth": "basic", "include_published_date": True}
SPENT = "Rate limit exceeded. The credits of your Tavily plan or key are used up."


def test_the_request_is_as_the_reference_says(server: Server, search: Search) -> None:
    server.route("*", Tavily(some_hits(50)))
    search(query="söme & wörds", count=3, offset=4, time_range="week")
    (request,) = server.requests
    assert (request.method, request.target) == ("POST", "/search")
    assert request.headers["authorization"] == f"Bearer {TAVILY_KEY}"
    assert request.headers["content-type"] == "application/json"
    assert bodies(server) == [{"query": "söme & wörds", "max_results": 7, "time_range": "week", **ALWAYS}]


def test_domains_are_tavilys_own_matter_and_cost_one_request(server: Server, search: Search) -> None:
    server.route("*", Tavily(mixed_hits(60), heeds_sites=True))
    assert numbers(search(allowed_domains=["Example.org", ".edu"], blocked_domains=["x.org"], count=5)) == [
        *(0, 3, 6, 9, 12)
    ]
    assert numbers(search(blocked_domains=["example.com", "notexample.org"], count=3, offset=2)) == [6, 9, 12]
    assert bodies(server) == [
        {
            "query": "some words",
            "max_results": 5,
            "include_domains": ["example.org", "*.edu"],
            "include_domains_mode": "restrict",
            "exclude_domains": ["x.org"],
            **ALWAYS,
        },
        {"query": "some words", "max_results": 5, "exclude_domains": ["example.com", "notexample.org"], **ALWAYS},
    ]


def test_a_filter_that_leaves_few_of_all_there_are_costs_one_request(server: Server, search: Search) -> None:
    server.route("*", Tavily(mixed_hits(7)))
    assert numbers(search(allowed_domains=["example.org"])) == [0, 3, 6]
    assert len(server.requests) == 1


def test_a_hundred_and_fifty_blocked_domains_are_sent_and_all_are_left_out(server: Server, search: Search) -> None:
    server.route("*", Tavily(mixed_hits(60), heeds_sites=True))
    domains = [*(f"domain-{n}.example" for n in range(150)), "example.com"]
    assert numbers(search(blocked_domains=domains, count=4)) == [0, 2, 3, 5]
    assert [len(one["exclude_domains"]) for one in bodies(server)] == [150, 150]


def test_a_result_without_a_date_has_none(answer: Answer, search: Search) -> None:
    document = tavily_document(some_hits(3))
    for hit, date in zip(document["results"], [None, "some day", "2026-02-03"], strict=True):
        hit["published_date"] = date
    answer(document)
    assert [one.get("published") for one in search()["results"]] == [None, None, "2026-02-03"]


def test_what_fits_is_asked_for_where_only_the_default_does_not(server: Server, search: Search) -> None:
    server.route("*", Tavily(some_hits(50)))
    assert numbers(search(offset=15)) == list(range(15, 20))
    assert bodies(server)[0]["max_results"] == 20


@pytest.mark.parametrize(
    ("arguments", "finding"),
    [
        ({"query": "q" * 401}, "query: Tavily takes 400 characters at most"),
        ({"query": "q", "offset": 15, "count": 6}, "offset: Tavily serves the first 20 results"),
        ({"query": "q", "offset": 20}, "and offset + count is 21"),
        ({"query": "q", "allowed_domains": [f"{n}.example" for n in range(301)]}, "allowed_domains: Tavily takes 300"),
    ],
)
def test_what_tavily_cannot_serve_is_told_before_it_is_asked(arguments: dict[str, Any], finding: str) -> None:
    (found,) = ferrule_tavily.validate(arguments)
    assert finding in found


@pytest.mark.parametrize(
    ("status", "document", "code", "message", "hint"),
    [
        (
            432,
            tavily_error("This request exceeds your plan's set usage limit."),
            "RATE_LIMIT",
            f"{SPENT} Tavily says: This request exceeds your plan's set usage limit.",
            "app.tavily.com",
        ),
        (433, {}, "RATE_LIMIT", SPENT, "app.tavily.com"),
        (
            429,
            tavily_error("Your request has been blocked due to excessive requests."),
            "RATE_LIMIT",
            "Rate limit exceeded. Tavily says: Your request has been blocked due to excessive requests.",
            None,
        ),
        (429, {}, "RATE_LIMIT", "Rate limit exceeded.", None),
        (401, {}, "AUTH_INVALID", "Tavily refused the credentials: Unauthorized.", "web_search.tavily"),
        (
            422,
            {"detail": [{"loc": ["body", "max_results"], "msg": "Input should be an integer", "type": "int"}]},
            "API_ERROR",
            "Tavily answered with HTTP 422: Input should be an integer.",
            None,
        ),
        (500, tavily_error("Internal Server Error"), "API_ERROR", "Tavily answered with HTTP 500: Internal", None),
    ],
)
def test_every_refusal_has_its_kind_and_tavilys_own_reason(
    server: Server, answer: Answer, error: Error, status: int, document: Any, code: str, message: str, hint: str | None
) -> None:
    answer(document, status)
    failure = error()
    assert failure.code == code
    assert failure.message.startswith(message)
    assert (hint or "") in (failure.hint or "")
    assert len(server.requests) == 1
