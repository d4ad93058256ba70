"""What search tools share: from a provider's pages to an answer, with a provider that is made of lists."""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from ferrule import Credential, ToolError
from ferrule_dev.testing import Exchange, Server, context
from ferrule_websearch import (
    DomainFilter,
    Fault,
    Page,
    Plan,
    Provider,
    Query,
    Reply,
    Request,
    Result,
    make_result,
    pages_from,
    search,
)
from ferrule_websearch.errors import format_seconds, refusal_error
from ferrule_websearch.pagination import collect
from ferrule_websearch.provider import Quota, Response

KEY = Credential("api_key", environment="LISTS_API_KEY", path="lists.api_key")
SECRET = "s3cret-of-the-lists"
SMALL = DomainFilter(blocked=("odd.example",))


class Lists(Provider):
    name = "Lists"
    endpoint = "https://lists.example/search"
    endpoint_variable = "FERRULE_LISTS_ENDPOINT"
    credentials = (KEY,)
    codes = {"E_KEY": "AUTH_INVALID", "E_MANY": "RATE_LIMIT"}  # noqa: RUF012 - as a provider's author writes it

    def request(self, keys: Mapping[str, str]) -> Request:
        return Request({"key": keys["api_key"]}, {"X-Key": keys["api_key"]})

    def plan(self, query: Query) -> Plan:
        return Plan([Page({"q": query.text}, 0)])

    def read(self, document: Mapping[str, Any]) -> Reply:
        return Reply([make_result(*hit) for hit in document["hits"]])

    def fault(self, document: Mapping[str, Any]) -> Fault:
        return Fault((str(document.get("code", "")),), str(document.get("text", "")))


def hit(number: int) -> Result:
    return Result(f"t{number}", f"https://{'odd' if number % 2 else 'even'}.example/{number}", "")


def ask_of(total: int, size: int, asked: list[int]) -> Callable[[Page], Reply]:
    """A provider with `total` results, which notes the places that it is asked for."""

    def ask(page: Page) -> Reply:
        asked.append(page.first)
        return Reply([hit(n) for n in range(page.first, min(total, page.first + size))], page.first + size < total)

    return ask


def pages(size: int, end: int) -> Iterator[Page]:
    return pages_from(0, size, end, lambda place, size: {"place": str(place), "size": str(size)})


def numbers(results: list[Result]) -> list[int]:
    return [int(one.title[1:]) for one in results]


# ---- paging


def test_pages_cover_a_stretch_and_no_more() -> None:
    assert [(page.first, page.params["size"]) for page in pages(10, 25)] == [(0, "10"), (10, "10"), (20, "5")]
    assert list(pages(10, 0)) == []


def test_no_page_is_asked_for_that_is_not_needed() -> None:
    asked: list[int] = []
    found = collect(Plan(pages(10, 100)), Query("q", 0, 10), ask_of(100, 10, asked))
    assert (numbers(found.results), found.stop_reason, asked) == (list(range(10)), "", [0])


def test_the_offset_counts_places_or_what_passes_as_the_plan_says() -> None:
    query = Query("q", 4, 3, SMALL)
    by_place = collect(Plan(pages(10, 100)), query, ask_of(100, 10, []))
    by_passing = collect(Plan(pages(10, 100), offset_counts_passing=True), query, ask_of(100, 10, []))
    assert numbers(by_place.results) == [4, 6, 8]
    assert numbers(by_passing.results) == [8, 10, 12]


def test_a_filter_goes_on_to_the_end_of_the_plan_or_of_the_results() -> None:
    for total, expected in ((100, [0, 10, 20, 30]), (25, [0, 10, 20])):
        asked: list[int] = []
        found = collect(Plan(pages(10, 40)), Query("q", 0, 90, SMALL), ask_of(total, 10, asked))
        assert numbers(found.results) == list(range(0, min(total, 40), 2))
        assert asked == expected


def test_a_result_without_a_url_keeps_its_place() -> None:
    reply = Reply([None, hit(1), hit(2), hit(3)])
    found = collect(Plan([Page({}, 0)]), Query("q", 0, 3), lambda page: reply)
    assert numbers(found.results) == [1, 2]


def test_what_fails_after_the_first_results_is_told_beside_them() -> None:
    def ask(page: Page) -> Reply:
        if page.first:
            raise ToolError("RATE_LIMIT", "no more")
        return Reply([hit(0), hit(1)])

    found = collect(Plan(pages(2, 10)), Query("q", 0, 5, SMALL), ask)
    assert (numbers(found.results), found.stop_reason) == ([0], "no more")
    with pytest.raises(ToolError, match="no more"):
        collect(Plan(pages(2, 10)), Query("q", 0, 5, DomainFilter(allowed=("none.example",))), ask)


# ---- refusals


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 seconds"),
        (0.2, "1 second"),
        (59.5, "1 minute"),
        (61, "1 minute 1 second"),
        (3600, "1 hour"),
        (90_061, "1 day 1 hour"),
        (1_419_704, "16 days 10 hours"),
    ],
)
def test_times_are_told_format_seconds(seconds: float, words: str) -> None:
    assert format_seconds(seconds) == words


@pytest.mark.parametrize(
    ("status", "document", "code", "message"),
    [
        (401, {}, "AUTH_INVALID", "Lists refused the credentials: Unauthorized."),
        (400, {"code": "E_KEY"}, "AUTH_INVALID", "Lists refused the credentials: Bad Request (E_KEY)."),
        (418, {"text": "Tea!"}, "API_ERROR", "Lists answered with HTTP 418: Tea!"),
        (418, {"text": "x" * 999}, "API_ERROR", f"Lists answered with HTTP 418: {'x' * 300}."),
        (500, {"text": f"a\n{SECRET}\x00"}, "API_ERROR", "Lists answered with HTTP 500: a [redacted]."),
        (500, {"code": "c" * 60, "text": "t"}, "API_ERROR", "Lists answered with HTTP 500: t."),
        (429, {}, "RATE_LIMIT", "Rate limit exceeded."),
        (200, {"code": "E_MANY"}, "RATE_LIMIT", "Rate limit exceeded."),
    ],
)
def test_a_refusal_has_a_code_and_a_reason(status: int, document: dict[str, str], code: str, message: str) -> None:
    error = refusal_error(Lists(), Response(status, {}, document), [SECRET])
    assert (error.code, error.message, error.wait) == (code, message, None)


def test_a_quota_is_used_up_only_where_the_provider_says_so() -> None:
    class Spent(Lists):
        def quota(self, response: Response, fault: Fault) -> Quota:
            return Quota(is_spent=True)

    error = refusal_error(Spent(), Response(429, {}, {}), [SECRET])
    assert error.message == "Rate limit exceeded. The search quota is used up."


def test_a_provider_that_fails_over_an_error_is_no_further_error() -> None:
    class Fragile(Lists):
        def fault(self, document: Mapping[str, Any]) -> Fault:
            raise KeyError("code")

    assert (
        refusal_error(Fragile(), Response(500, {}, {}), []).message
        == "Lists answered with HTTP 500: Internal Server Error."
    )


# ---- whole searches


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as server:
        yield server


@pytest.fixture
def ask(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, Any]]:
    """Search by a server that answers with a document."""
    monkeypatch.setenv("FERRULE_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("FERRULE_LISTS_ENDPOINT", f"{server.url}/search")
    monkeypatch.setenv("LISTS_API_KEY", SECRET)
    monkeypatch.setenv("NO_PROXY", "*")

    def ask(document: Any, **options: Any) -> dict[str, Any]:
        server.page("*", json.dumps(document), "application/json", **options)
        given = context("web_search_lists", seconds=30, credentials=[KEY])
        return search(Lists(), Query("q", 0, 3), given)

    return ask


@pytest.mark.slow
@pytest.mark.process
def test_a_provider_that_does_not_say_when_is_asked_a_few_times_at_longer_and_longer_intervals(
    server: Server, ask: Callable[..., dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def guess(self: Lists, response: Response, fault: Fault) -> Quota:
        return Quota.of_short_limit(response, 0.2)

    monkeypatch.setattr(Lists, "quota", guess)
    with pytest.raises(ToolError) as caught:
        ask({"code": "E_MANY", "text": "Too fast."}, status=429)
    assert (caught.value.code, caught.value.retry_after, caught.value.hint) == ("RATE_LIMIT", 2, None)
    assert caught.value.message == (
        "Rate limit exceeded. Lists says: Too fast (E_MANY). It refused 4 requests in a row, and did not say when it "
        "takes one. Ask again in 2 seconds."
    )
    assert len(server.requests) == 4


@pytest.mark.process
def test_a_time_that_the_provider_tells_is_no_guess(
    server: Server, ask: Callable[..., dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Lists, "quota", lambda self, response, fault: Quota.of_short_limit(response, 9.0))
    with pytest.raises(ToolError, match=r"Ask again in 1 minute 17 seconds") as caught:
        ask({"code": "E_MANY"}, status=429, headers={"Retry-After": "77"})
    assert caught.value.retry_after == 77


@pytest.mark.process
def test_a_search_sends_what_the_provider_wants(server: Server, ask: Callable[..., dict[str, Any]]) -> None:
    assert ask({"hits": [["<b>t</b>", "https://a.example/", None]]}) == {
        "success": True,
        "results": [{"title": "t", "url": "https://a.example/", "snippet": ""}],
        "count": 1,
    }
    (request,) = server.requests
    assert request.target == f"/search?q=q&key={SECRET}"
    assert request.headers["x-key"] == SECRET


@pytest.mark.process
def test_a_provider_may_want_its_parameters_as_json(
    server: Server, ask: Callable[..., dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Lists, "method", "POST")
    monkeypatch.setattr(Lists, "plan", lambda self, query: Plan([Page({"query": query.text, "max_results": 3}, 0)]))
    bodies = []

    def answer(exchange: Exchange) -> None:
        bodies.append(json.loads(exchange.rfile.read(int(exchange.headers["Content-Length"]))))
        exchange.answer(json.dumps({"hits": [["t", "https://a.example/", "s"]]}).encode(), "application/json")

    server.route("*", answer)
    given = context("web_search_lists", seconds=30, credentials=[KEY])
    assert search(Lists(), Query("q", 0, 3), given)["count"] == 1
    assert bodies == [{"query": "q", "max_results": 3, "key": SECRET}]
    (request,) = server.requests
    assert (request.method, request.target, request.headers["content-type"]) == ("POST", "/search", "application/json")


@pytest.mark.process
def test_a_document_without_what_is_needed_is_an_api_error(ask: Callable[..., dict[str, Any]]) -> None:
    for document in ({}, {"hits": None}, {"hits": [1]}, {"hits": [[1]]}, {"hits": {"a": 1}}):
        with pytest.raises(ToolError, match="Lists sent JSON of an unexpected shape") as caught:
            ask(document)
        assert caught.value.code == "API_ERROR"


@pytest.mark.process
def test_a_missing_key_is_told_in_the_hosts_words_where_the_provider_has_none(
    ask: Callable[..., dict[str, Any]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("IKIGAI_CONFIG_DIR", str(tmp_path))
    monkeypatch.delenv("LISTS_API_KEY")
    with pytest.raises(ToolError, match="web_search_lists needs api_key") as caught:
        ask({"hits": []})
    assert caught.value.event is not None


@pytest.mark.process
def test_the_collector_is_as_it_was(ask: Callable[..., dict[str, Any]]) -> None:
    import gc

    assert gc.isenabled()
    ask({"hits": []})
    assert gc.isenabled()
