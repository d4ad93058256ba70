"""What a call asks Exa for, and what it makes of the answer."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import ferrule_exa
from ferrule_dev.testing import Server
from ferrule_testkit.search.posted import EXA_KEY, Exa, bodies, exa_document, exa_error
from ferrule_testkit.search.provider_contract import Answer, Error, Search, mixed_hits, numbers
from ferrule_testkit.search.server import some_hits

pytestmark = pytest.mark.process

ALWAYS = {"type": "auto", "contents": {"highlights": True}}
SPENT = "Rate limit exceeded. The credits of your Exa account, or the budget of your key, are used up."


def test_the_request_is_as_the_reference_says(server: Server, search: Search) -> None:
    server.route("*", Exa(some_hits(50)))
    search(query="söme & wörds", count=3, offset=4)
    (request,) = server.requests
    assert (request.method, request.target) == ("POST", "/search")
    assert request.headers["x-api-key"] == EXA_KEY
    assert request.headers["content-type"] == "application/json"
    assert bodies(server) == [{"query": "söme & wörds", "numResults": 7, **ALWAYS}]


def test_a_time_is_asked_for_by_the_instant_at_which_it_began(server: Server, search: Search) -> None:
    server.route("*", Exa(some_hits(3)))
    before = datetime.now(UTC)
    search(time_range="week")
    since = datetime.fromisoformat(bodies(server)[0]["startPublishedDate"])
    assert before - timedelta(seconds=1) <= since + timedelta(days=7) <= datetime.now(UTC)


def test_allowed_domains_are_exas_own_matter_and_cost_one_request(server: Server, search: Search) -> None:
    server.route("*", Exa(mixed_hits(60), heeds_sites=True))
    assert numbers(search(allowed_domains=["Example.org", ".edu", "127.0.0.1"], count=5)) == [0, 3, 6, 9, 12]
    assert numbers(search(blocked_domains=["example.com", "notexample.org"], count=3, offset=2)) == [6, 9, 12]
    included = ["example.org", "127.0.0.1", "*.example.org", "*.edu"]
    excluded = ["example.com", "notexample.org", "*.example.com", "*.notexample.org"]
    assert bodies(server) == [
        {"query": "some words", "numResults": 5, "includeDomains": included, **ALWAYS},
        {"query": "some words", "numResults": 5, "excludeDomains": excluded, **ALWAYS},
    ]


def test_of_two_lists_of_domains_one_is_sent_and_both_hold(server: Server, search: Search) -> None:
    server.route("*", Exa(mixed_hits(60), heeds_sites=True))
    found = search(allowed_domains=["example.org", "example.com"], blocked_domains=["docs.example.org"], count=5)
    assert numbers(found) == [1, 4, 7, 10, 13]
    assert [one["numResults"] for one in bodies(server)] == [5, 25]
    assert all("excludeDomains" not in one for one in bodies(server))


def test_a_highlight_is_the_snippet_and_the_others_are_more_text(
    answer: Answer, search: Search, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = exa_document(some_hits(2))
    del document["results"][1]["highlights"], document["results"][1]["publishedDate"]
    answer(document)
    first = {"title": "Title 0", "url": "https://www.example.com/0", "snippet": "Text 0"}
    date = {"published": "2026-01-02T03:04:05Z"}
    bare = {"title": "Title 1", "url": "https://www.example.com/1", "snippet": ""}
    assert search()["results"] == [{**first, **date}, bare]
    monkeypatch.setenv("FERRULE_SEARCH_EXTRA_SNIPPETS", "1")
    assert search()["results"] == [{**first, **date, "extra_snippets": ["More of the page"]}, bare]


def test_what_fits_is_asked_for_where_only_the_default_does_not(server: Server, search: Search) -> None:
    server.route("*", Exa(some_hits(200)))
    assert numbers(search(offset=95)) == list(range(95, 100))
    assert bodies(server)[0]["numResults"] == 100


@pytest.mark.parametrize(
    ("arguments", "finding"),
    [
        ({"query": "q", "offset": 95, "count": 6}, "offset: Exa serves the first 100 results"),
        ({"query": "q", "offset": 100}, "and offset + count is 101"),
        ({"query": "q", "allowed_domains": [f"{n}.example" for n in range(601)]}, "allowed_domains: Exa takes 600"),
    ],
)
def test_what_exa_cannot_serve_is_told_before_it_is_asked(arguments: dict[str, Any], finding: str) -> None:
    (found,) = ferrule_exa.validate(arguments)
    assert finding in found


@pytest.mark.parametrize(
    ("status", "document", "code", "message", "hint"),
    [
        (
            402,
            exa_error("You have exceeded your credits limit", "NO_MORE_CREDITS"),
            "RATE_LIMIT",
            f"{SPENT} Exa says: You have exceeded your credits limit (NO_MORE_CREDITS).",
            "dashboard.exa.ai",
        ),
        (402, {}, "RATE_LIMIT", SPENT, "dashboard.exa.ai"),
        (429, {}, "RATE_LIMIT", "Rate limit exceeded.", None),
        (
            401,
            exa_error("Invalid API key", "INVALID_API_KEY"),
            "AUTH_INVALID",
            "Exa refused the credentials: Invalid API key (INVALID_API_KEY).",
            "web_search.exa.api_key",
        ),
        (
            403,
            exa_error("The request was blocked", "PROHIBITED_CONTENT"),
            "API_ERROR",
            "Exa answered with HTTP 403: The request was blocked (PROHIBITED_CONTENT).",
            None,
        ),
        (
            400,
            exa_error("Invalid request body | Validation error", "INVALID_REQUEST_BODY"),
            "API_ERROR",
            "Exa answered with HTTP 400: Invalid request body | Validation error (INVALID_REQUEST_BODY).",
            None,
        ),
        (503, {}, "API_ERROR", "Exa answered with HTTP 503: Service Unavailable.", None),
    ],
)
def test_every_refusal_has_its_kind_and_exas_own_reason(
    server: Server, answer: Answer, error: Error, status: int, document: Any, code: str, message: str, hint: str | None
) -> None:
    answer(document, status)
    failure = error()
    assert (failure.code, failure.message) == (code, message)
    assert (hint or "") in (failure.hint or "")
    assert len(server.requests) == 1
