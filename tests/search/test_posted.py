"""web_search by the providers that are asked by POST with a JSON object: Tavily and Exa."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ferrule_dev.testing import Server
from ferrule_testkit.search.posted import EXA_KEY, TAVILY_KEY, Exa, Tavily, bodies, exa_error, tavily_error
from ferrule_testkit.search.provider_contract import mixed_hits
from ferrule_testkit.search.server import some_hits
from ferrule_testkit.web.research_web import Web, answers, fails, research_web

pytestmark = pytest.mark.process

PROVIDERS = {"tavily": (Tavily, TAVILY_KEY, "max_results"), "exa": (Exa, EXA_KEY, "numResults")}
each = pytest.mark.parametrize("provider", PROVIDERS)


@pytest.fixture
def web(tmp_path: Path, server: Server) -> Iterator[Web]:
    """All four providers, of which two have one server; the lists of domains have their effect."""
    with research_web(tmp_path) as web:
        for name, (_, key, _) in PROVIDERS.items():
            web.environment |= {
                f"{name.upper()}_API_KEY": key,
                f"FERRULE_{name.upper()}_ENDPOINT": f"{server.url}/{name}",
            }
        server.route("/tavily", Tavily(mixed_hits(60), heeds_sites=True))
        server.route("/exa", Exa(mixed_hits(60), heeds_sites=True))
        yield web


def ignored(document: dict[str, Any]) -> set[str]:
    return {one["name"] for one in document.get("ignoredParameters", [])}


@each
def test_a_search_is_asked_for_in_the_words_of_the_provider(web: Web, server: Server, provider: str) -> None:
    document = web.found(provider=provider, num_results=3, time_range="week", country="de", safe="high", language="de")
    assert document["urls"] == [f"https://{host}/{n}" for n, host in enumerate(HOSTS)]
    assert document["results"][0]["published"] == "2026-01-02T03:04:05Z"
    assert document["_meta"]["routing"]["requests"] == {provider: 1}
    (asked,) = bodies(server)
    if provider == "tavily":
        expected: dict[str, Any] = {"max_results": 6, "time_range": "week", "country": "germany", "language": "de"}
        assert ignored(document) == {"safe"}
    else:
        since = datetime.fromisoformat(asked.pop("startPublishedDate"))
        assert timedelta(days=7) <= datetime.now(UTC) - since < timedelta(days=7, minutes=5)
        expected = {"numResults": 6, "userLocation": "DE", "moderation": True}
        assert ignored(document) == {"language"}
    assert {name: asked[name] for name in expected} == expected


HOSTS = ("docs.example.org", "www.example.com", "notexample.org")


@each
def test_the_sites_of_a_lens_are_one_request_and_none_stands_in_the_query(
    web: Web, server: Server, provider: str
) -> None:
    sites = ["example.org", *(f"number-{n}.of-a-long-list-of-sites.example" for n in range(40))]
    web.lens("mine.json", json.dumps({"sites": sites}))
    document = web.found(provider=provider, lens="mine", num_results=4, exact_terms="a b")
    assert document["urls"] == [f"https://docs.example.org/{n}" for n in (0, 3, 6, 9)]
    (asked,) = bodies(server)
    assert asked["query"] == "some words"
    assert len(asked.get("include_domains") or asked["includeDomains"]) in (41, 82)
    assert "exact_terms" in ignored(document)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("provider", "status", "refusal"),
    [
        ("tavily", 432, tavily_error("This request exceeds your plan's set usage limit.")),
        ("exa", 402, exa_error("You have exceeded your credits limit", "NO_MORE_CREDITS")),
    ],
)
def test_spent_credits_are_a_rate_limit_after_which_the_next_provider_is_asked(
    web: Web, server: Server, provider: str, status: int, refusal: dict[str, Any]
) -> None:
    server.route(f"/{provider}", answers(refusal, status=status))
    alone = web.search(provider=provider).document
    assert (alone["kind"], alone["error_code"], alone["requests"]) == ("rate_limited", "RATE_LIMIT", {provider: 1})
    assert "used up" in alone["error"]
    order = {"FERRULE_SEARCH_ROUTING": f"{provider},google"}
    assert web.found(environment=order)["_meta"]["routing"]["provider_used"] == "google"
    assert len(server.requests) == 1  # its breaker is open


@pytest.mark.slow
def test_a_query_that_is_too_long_for_tavily_goes_to_exa_without_being_sent(web: Web, server: Server) -> None:
    order = {"FERRULE_SEARCH_ROUTING": "tavily,exa"}
    document = web.found("q" * 401, environment=order)
    assert document["_meta"]["routing"]["provider_used"] == "exa"
    assert [request.target for request in server.requests] == ["/exa"]


@pytest.mark.slow
def test_they_answer_where_brave_and_google_are_down(web: Web, server: Server) -> None:
    web.brave.route("*", fails)
    web.google.route("*", fails)
    server.route("/tavily", Tavily(some_hits(9)))
    order = {"FERRULE_SEARCH_ROUTING": "brave,google,tavily"}
    routing = web.found(environment=order)["_meta"]["routing"]
    assert (routing["provider_used"], routing["fallback"]) == ("tavily", True)
    assert routing["requests"] == {"brave": 1, "google": 1, "tavily": 1}
