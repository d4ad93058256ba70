"""What a call asks an instance for, what it gives back, and how it refuses."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import ferrule_searxng
from ferrule import ToolError
from ferrule_dev.testing import Server, context, refused_port
from ferrule_testkit.search.provider_contract import Answer, Error, Search, mixed_hits, numbers
from ferrule_testkit.search.searxng import SearXNG, searxng_document
from ferrule_testkit.search.server import asked, some_hits

pytestmark = pytest.mark.process
SILENT = [["brave", "Suspended: too many requests"], ["bing", "timeout"]]
TOLD = "Engines of SearXNG that gave no answer: bing (timeout), brave (Suspended: too many requests)."


def test_the_request_is_as_the_mapping_says(server: Server, search: Search) -> None:
    server.route("*", SearXNG(some_hits(50)))
    search(query="söme & wörds", time_range="week", language="pt-BR", safe_search="strict")
    (request,) = server.requests
    assert request.target.startswith("/search?")
    assert request.headers["accept-language"] == "en"
    (params,) = asked(server)
    assert params == {
        "q": "söme & wörds",
        "format": "json",
        "pageno": "1",
        "time_range": "week",
        "language": "pt-BR",
        "safesearch": "2",
    }


@pytest.mark.parametrize(
    ("arguments", "found", "pages"),
    [
        pytest.param({"count": 12}, range(12), ["1", "2"], id="across-two-pages"),
        pytest.param({"count": 7}, range(7), ["1"], id="a-whole-page-and-no-more"),
        pytest.param({"offset": 8, "count": 3}, range(8, 11), ["1", "2"], id="from-a-later-page"),
        pytest.param({"page": 2, "count": 3}, range(7, 10), ["2"], id="from-a-page-on"),
        pytest.param({"page": 2, "offset": 5, "count": 3}, range(12, 15), ["2", "3"], id="within-a-page"),
        pytest.param({"offset": 18, "count": 9}, range(18, 20), ["1", "2", "3"], id="beyond-the-end"),
    ],
)
def test_an_offset_counts_results_though_pages_have_no_size_of_their_own(
    server: Server, search: Search, arguments: Mapping[str, Any], found: range, pages: list[str]
) -> None:
    server.route("*", SearXNG(some_hits(20), page_results=7))
    assert numbers(search(**arguments)) == list(found)
    assert [one["pageno"] for one in asked(server)] == pages


def test_the_end_of_a_page_is_no_reason_to_ask_for_the_next_where_one_result_is_there_twice(
    server: Server, answer: Answer, search: Search
) -> None:
    answer(searxng_document([*some_hits(9), *some_hits(1)]))
    assert numbers(search()) == list(range(9))
    assert len(server.requests) == 1


def test_domains_are_operators_where_they_fit_and_always_a_filter(server: Server, search: Search) -> None:
    server.route("*", SearXNG(mixed_hits(30)))
    assert numbers(search(allowed_domains=["example.org"], blocked_domains=["www.example.org"], count=4)) == [
        0,
        3,
        6,
        9,
    ]
    assert asked(server)[0]["q"] == "some words site:example.org -site:www.example.org"
    search(allowed_domains=["example.org", *(f"domain-number-{n}.example" for n in range(30))], count=1)
    assert asked(server)[-1]["q"] == "some words"


# ---- engines that give no answer


def test_engines_that_gave_no_answer_are_told_and_the_answer_is_not_kept(
    server: Server, search: Search, events: list[dict[str, Any]]
) -> None:
    server.route("*", SearXNG(some_hits(3), unresponsive=SILENT))
    found = search()
    assert numbers(found) == [0, 1, 2]
    assert (found["incomplete"], found["_meta"]) == (TOLD, {"cacheable": False})
    assert events == [{"event": "search_incomplete", "content": TOLD}]


def test_nothing_found_by_engines_that_gave_no_answer_is_a_failure(server: Server, error: Error) -> None:
    server.route("*", SearXNG(unresponsive=SILENT))
    failure = error()
    assert (failure.code, failure.message) == ("API_ERROR", TOLD)


def test_nothing_that_passes_a_filter_is_no_failure(server: Server, search: Search) -> None:
    server.route("*", SearXNG(some_hits(3), unresponsive=SILENT))
    found = search(allowed_domains=["none.example"])
    assert (found["count"], found["incomplete"]) == (0, TOLD)


def test_the_bound_is_told_beside_the_engines(server: Server, search: Search, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FERRULE_SEARCH_MAX_REQUESTS", "1")
    server.route("*", SearXNG(some_hits(30), unresponsive=SILENT))
    assert search(count=20)["incomplete"].startswith(f"{TOLD} SearXNG was asked once, the most for one question")


# ---- refusals


@pytest.mark.parametrize(
    ("status", "body", "code", "message", "hint"),
    [
        pytest.param(
            403,
            b"<title>403 Forbidden</title>",
            "API_ERROR",
            "SearXNG answered with HTTP 403: Forbidden.",
            "Add json to search.formats in the instance's settings.yml, and start it again.",
            id="no-json",
        ),
        pytest.param(429, b"Too Many Requests", "RATE_LIMIT", "Rate limit exceeded.", "limiter.toml", id="its-limiter"),
        pytest.param(
            400,
            {"error": "Invalid value klingon for parameter language"},
            "API_ERROR",
            "SearXNG answered with HTTP 400: Invalid value klingon for parameter language.",
            "",
            id="wrong-parameter",
        ),
        pytest.param(
            500,
            {"error": "search error"},
            "API_ERROR",
            "SearXNG answered with HTTP 500: search error.",
            "",
            id="its-own-error",
        ),
        pytest.param(
            302,
            b"",
            "API_ERROR",
            "SearXNG answered with HTTP 302: it leads elsewhere, which is not followed.",
            "FERRULE_SEARXNG_URL",
            id="elsewhere",
        ),
        pytest.param(
            404, b"", "API_ERROR", "SearXNG answered with HTTP 404: Not Found.", "FERRULE_SEARXNG_URL", id="no-page"
        ),
        pytest.param(
            200,
            b"<html>",
            "API_ERROR",
            "SearXNG sent something else than a JSON object.",
            "FERRULE_SEARXNG_URL",
            id="another-site",
        ),
        pytest.param(200, {"hits": []}, "API_ERROR", "SearXNG sent JSON of an unexpected shape.", "", id="other-json"),
    ],
)
def test_every_refusal_says_what_is_wrong_and_what_to_do(
    answer: Answer, error: Error, status: int, body: Any, code: str, message: str, hint: str
) -> None:
    answer(body, status, {"Location": "https://other.example/"} if status == 302 else None)
    failure = error()
    assert (failure.code, failure.message) == (code, message)
    assert hint in str(failure.hint or "")


# ---- which instance


@pytest.mark.parametrize("path", ["", "/", "/search", "/search/"])
def test_an_instance_is_named_by_its_start_page_or_its_search(
    server: Server, search: Search, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    server.route("*", SearXNG(some_hits(3)))
    monkeypatch.setenv("FERRULE_SEARXNG_URL", f"{server.url}/below{path}")
    assert search()["count"] == 3
    assert server.requests[0].target.startswith("/below/search?")


def test_the_setting_names_the_instance_where_the_variable_does_not(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.route("*", SearXNG(some_hits(3)))
    monkeypatch.delenv("FERRULE_SEARXNG_URL")
    given = context("web_search_searxng", settings={"url": server.url})
    assert ferrule_searxng.execute({"query": "some words"}, given)["count"] == 3
    with pytest.raises(ToolError, match="The setting url does not name an http or https URL"):
        ferrule_searxng.execute({"query": "some words"}, context("web_search_searxng", settings={"url": "host:8888"}))


def test_without_an_instance_it_says_how_to_name_one(error: Error, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FERRULE_SEARXNG_URL")
    failure = error()
    assert (failure.code, failure.message) == (
        "CONFIG_ERROR",
        "SearXNG is a server of your own, and its URL is not set.",
    )
    assert failure.hint == (
        "Set FERRULE_SEARXNG_URL, or url in [tools.web_search_searxng] of config.toml, to the URL of your server."
    )


@pytest.mark.parametrize("url", ["localhost:8888", "ftp://host/", "http://", "http://host/?q=1", "http://[::1"])
def test_what_names_no_instance_is_told_and_not_shown(error: Error, monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("FERRULE_SEARXNG_URL", url)
    failure = error()
    assert failure.code == "NETWORK_ERROR"
    assert failure.message.startswith("The environment variable FERRULE_SEARXNG_URL does not name")


def test_a_login_in_the_address_is_refused_and_not_shown(
    server: Server, error: Error, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FERRULE_SEARXNG_URL", server.url.replace("http://", "http://me:s3cret@"))
    failure = error()
    assert failure.message == (
        "The environment variable FERRULE_SEARXNG_URL holds a user name or a password, which are not sent."
    )
    assert "s3cret" not in str(failure.facts())
    assert server.requests == []


def test_an_instance_that_does_not_run_is_told_with_where_to_look(
    error: Error, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FERRULE_SEARXNG_URL", f"http://127.0.0.1:{refused_port()}")
    failure = error()
    assert failure.code == "NETWORK_ERROR"
    assert failure.message == "SearXNG gave no answer: Connection refused."
    assert str(failure.hint).startswith("See that the instance runs.")


def test_a_word_that_leads_to_another_site_is_refused_before_it_is_asked() -> None:
    (found,) = ferrule_searxng.validate({"query": "rain !!g"})
    assert found.startswith("query: a word that begins with !! leads to another site")
    assert ferrule_searxng.validate({"query": "wow!! rain"}) == []
