"""search_and_scrape: what it reads, in which order it answers, and what one bad page costs."""

import json
import threading
from collections.abc import Callable
from typing import Any

import pytest

from ferrule_dev.testing import Exchange, Server
from ferrule_research.bundle.combination import SEPARATOR
from ferrule_testkit import PATIENCE_SECONDS
from ferrule_testkit.search.server import Brave
from ferrule_testkit.web.research_web import Web

pytestmark = pytest.mark.process

Find = Callable[..., list[str]]
Bundle = Callable[..., dict[str, Any]]
WORDS = "The umbrella has a long history in many countries, and it was first made against the sun. "


def page(title: str, *paragraphs: str) -> str:
    text = "".join(f"<p>{one}</p>" for one in paragraphs)
    return f"<!DOCTYPE html><title>{title}</title><main><h1>{title}</h1>{text}</main>"


def about(subject: str, number: int = 0) -> str:
    """Prose of some paragraphs that stand on no other page."""
    return page(subject.title(), *(f"{subject} {number}.{part}: {WORDS * 3}" for part in range(4)))


def test_the_pages_are_read_and_joined_by_one_search(web: Web, server: Server, find: Find, bundle: Bundle) -> None:
    urls = find("/a", "/b")
    server.page("/a", about("umbrella history", 1))
    server.page("/b", about("umbrella history", 2))
    answer = bundle()
    assert (answer["status"], answer["query"], answer["trust"]) == (
        "complete",
        "umbrella history",
        "untrusted-external-content",
    )
    assert {one["url"] for one in answer["sources"]} == set(urls)
    for one in answer["sources"]:
        assert one["title"] == "Umbrella History"
        assert one["content"] in answer["combinedContent"]
        assert f"[{one['url']}]" in answer["combinedContent"]
        assert one["wordCount"] > 150
        assert all(0 <= value <= 1 for value in one["scores"].values())
    counts = {name: count for name, count in answer["summary"].items() if name != "processingTimeMs"}
    assert counts == {
        "urlsSearched": 2,
        "urlsScraped": 2,
        "urlsKept": 0,
        "urlsFailed": 0,
        "urlsLate": 0,
        "urlsFiltered": 0,
        "urlsRepeated": 0,
        "sparseSources": 0,
        "repeatedParagraphs": 0,
    }
    assert len(web.asked_brave) == 1


@pytest.mark.slow
def test_ten_pages_are_asked_for_at_once(server: Server, find: Find, bundle: Bundle) -> None:
    paths = [f"/{number}" for number in range(10)]
    everyone = threading.Barrier(len(paths))

    def answer(exchange: Exchange) -> None:
        everyone.wait(PATIENCE_SECONDS)  # one after the other, the first would be late
        exchange.answer(about("umbrella history", int(exchange.path[1:])).encode(), "text/html")

    for path in paths:
        server.route(path, answer)
    find(*paths)
    assert len(bundle(num_results=25)["sources"]) == 10


@pytest.mark.slow
def test_a_larger_number_of_pages_is_reported(server: Server, find: Find, bundle: Bundle) -> None:
    find("/a")
    server.page("/a", about("umbrella history"))
    assert bundle(num_results=25)["requestedNumResults"] == 25
    assert "requestedNumResults" not in bundle(num_results=10)


def test_the_best_page_comes_first_whatever_the_search_says(server: Server, find: Find, bundle: Bundle) -> None:
    first, second, third = find("/other", "/half", "/best")
    server.page("/other", page("Gardens", "Nothing but flowers stands here, and a word about bees. " * 12))
    server.page("/half", page("History", "The history of gardens is long, and it is not about rain. " * 12))
    server.page("/best", about("umbrella history"))
    answer = bundle()
    assert [one["url"] for one in answer["sources"]] == [third, second, first]
    overall = [one["scores"]["overall"] for one in answer["sources"]]
    assert overall == sorted(overall, reverse=True)
    assert answer["combinedContent"].index(third) < answer["combinedContent"].index(first)
    assert answer["recommendations"][0]["url"] == third


@pytest.mark.slow
def test_a_page_about_something_else_is_left_out_where_that_is_wanted(
    server: Server, find: Find, bundle: Bundle
) -> None:
    find("/other", "/best")
    server.page("/other", page("Gardens", "Nothing but flowers stands here, and a word about bees. " * 12))
    server.page("/best", about("umbrella history"))
    answer = bundle(filter_by_query=True)
    assert [one["title"] for one in answer["sources"]] == ["Umbrella History"]
    assert (answer["summary"]["urlsScraped"], answer["summary"]["urlsFiltered"]) == (2, 1)
    everything = bundle(filter_by_query=True, query="zeppelin")
    assert (everything["sources"], everything["combinedContent"], everything["status"]) == ([], "", "complete")


@pytest.mark.slow
def test_a_claim_has_the_sentences_that_bear_on_it_and_filters(server: Server, find: Find, bundle: Bundle) -> None:
    find("/other", "/best")
    server.page("/other", page("Gardens", "Nothing but flowers stands here, and a word about bees. " * 12))
    told = "However, a study of 1852 found that Samuel Fox did not invent the steel frame of the umbrella."
    server.page("/best", page("Umbrella history", WORDS * 3, told, WORDS * 2 + "It is light."))
    claim = {"claim": "Samuel Fox invented the steel umbrella frame in 1852"}
    (source,) = bundle(**claim)["sources"]
    assert source["claimSignal"] == told
    assert told in source["keySentences"]
    assert len(source["keySentences"]) <= 5
    assert len(bundle(**claim, filter_by_query=False)["sources"]) == 2


@pytest.mark.slow
def test_a_paragraph_that_stands_on_two_pages_is_kept_by_the_better_one(
    server: Server, find: Find, bundle: Bundle
) -> None:
    shared = "This very notice about the use of the site stands at the end of each of its pages, word for word."
    other, best = find("/other", "/best")
    server.page("/other", page("Rain", "Umbrella here and there. " * 9, shared, "Only this page says it. " * 9))
    server.page("/best", page("Umbrella history", WORDS * 6, f"  {shared} "))
    answer = bundle()
    texts = {one["url"]: one["content"] for one in answer["sources"]}
    assert (shared in texts[best], shared in texts[other]) == (True, False)
    assert "Only this page says it." in texts[other]
    assert answer["combinedContent"].count(shared) == 1
    assert answer["summary"]["repeatedParagraphs"] == 1
    assert bundle(deduplicate=False)["combinedContent"].count(shared) == 2


@pytest.mark.slow
def test_two_addresses_of_one_page_are_one_source(server: Server, find: Find, bundle: Bundle) -> None:
    find("/a", "/b")
    server.page("/a", about("umbrella history"))
    server.route("/b", lambda exchange: exchange.answer(b"", status=302, headers={"Location": "/a"}))
    answer = bundle(deduplicate=False)
    assert len(answer["sources"]) == 1
    assert (answer["summary"]["urlsScraped"], answer["summary"]["urlsRepeated"]) == (2, 1)


@pytest.mark.slow
def test_a_bad_page_costs_itself_and_is_explained(server: Server, find: Find, bundle: Bundle) -> None:
    good, *bad = find("/good", "/missing", "/walled", "/empty", "/broken")
    server.page("/good", about("umbrella history"))
    server.route("/missing", lambda exchange: exchange.answer(b"no", status=404))
    server.route("/walled", lambda exchange: exchange.answer(b"no", status=429, headers={"Retry-After": "70"}))
    server.page("/empty", "<title>Nothing</title>")
    server.route("/broken", lambda exchange: exchange.answer(b"\x00\x01\x02" * 99, "application/octet-stream"))
    answer = bundle(num_results=5)
    assert answer["status"] == "partial"
    assert [one["url"] for one in answer["sources"]] == [good]
    failures = {one["url"]: one for one in answer["scrapeFailures"]}
    assert [failures[url]["kind"] for url in bad] == ["not_found", "rate_limited", "content_empty", "content_empty"]
    limited = failures[bad[1]]
    assert (limited["retryable"], limited["retryAfterSeconds"]) == (True, 70)
    assert all(one["reason"] and one["suggestedAction"] for one in failures.values())
    summary = answer["summary"]
    assert (summary["urlsSearched"], summary["urlsScraped"], summary["urlsFailed"]) == (5, 1, 4)


@pytest.mark.slow
def test_a_page_that_never_answers_is_left_behind(web: Web, server: Server, find: Find) -> None:
    good, silent = find("/good", "/silent")
    server.page("/good", about("umbrella history"))
    server.route("/silent", lambda exchange: exchange.hang())
    answer = web.answer("search_and_scrape", {"query": "umbrella history"}, {"FERRULE_DEADLINE": "60"})
    assert answer["status"] == "partial"
    assert [one["url"] for one in answer["sources"]] == [good]
    (failure,) = answer["scrapeFailures"]
    assert (failure["url"], failure["kind"], failure["retryable"]) == (silent, "network", True)


@pytest.mark.slow
def test_where_no_page_can_be_read_the_answer_says_so(server: Server, find: Find, bundle: Bundle) -> None:
    find("/a", "/b")
    server.route("*", lambda exchange: exchange.answer(b"no", status=503))
    answer = bundle()
    assert (answer["status"], answer["sources"], answer["combinedContent"]) == ("failed", [], "")
    assert "scrapeFailures" in answer["note"]


@pytest.mark.slow
def test_an_address_that_may_not_be_asked_is_a_failure_of_that_page(web: Web, find: Find, server: Server) -> None:
    find("/a")
    server.page("/a", about("umbrella history"))
    answer = web.answer("search_and_scrape", {"query": "umbrella"}, {"FERRULE_FETCH_ALLOW": ""})
    assert [one["kind"] for one in answer["scrapeFailures"]] == ["validation"]
    assert server.requests == []


@pytest.mark.slow
def test_a_search_that_finds_nothing_is_complete_and_has_hints(web: Web, bundle: Bundle) -> None:
    web.brave.route("*", Brave([]))
    answer = bundle()
    assert (answer["status"], answer["sources"], answer["combinedContent"]) == ("complete", [], "")
    assert answer["hints"]["reason"] == "no_match"
    assert answer["summary"]["urlsSearched"] == 0


@pytest.mark.slow
def test_the_joined_text_keeps_its_size_in_bytes_with_what_parts_it(server: Server, find: Find, bundle: Bundle) -> None:
    find("/a", "/b")
    server.page("/a", page("Umbrella", *(f"umbrella ☂️ № {number}: {'ünïcödé ☂️ ' * 9}" for number in range(9))))
    server.page("/b", page("Umbrella", *(f"umbrella 👨‍👩‍👧 № {number}: {'早い ' * 30}" for number in range(9))))
    whole = bundle()["combinedContent"]
    assert SEPARATOR in whole
    for size in (1, 7, 300, 1501, 1502, 1503, 1504, len(whole.encode()) - 1):
        joined = bundle(total_max_length=size, include_sources=False)["combinedContent"]
        assert len(joined.encode()) <= size
        assert "\ufffd" not in joined
    assert bundle(total_max_length=len(whole.encode()))["combinedContent"] == whole


@pytest.mark.slow
def test_the_text_of_each_page_keeps_its_size(server: Server, find: Find, bundle: Bundle) -> None:
    find("/a")
    server.page("/a", about("umbrella history"))
    (source,) = bundle(max_length_per_source=400)["sources"]
    assert len(source["content"].encode()) <= 400
    assert source["truncated"]


@pytest.mark.slow
def test_an_answer_is_no_larger_than_the_client_reads(web: Web, server: Server, find: Find) -> None:
    paths = [f"/{number}" for number in range(6)]
    find(*paths)
    for number, path in enumerate(paths):
        lines = (f'umbrella history "{number}" \\ {line}: {WORDS}' for line in range(250))
        server.page(path, page(f"Umbrella {number}", *lines))
    arguments = {"query": "umbrella history", "num_results": 6}
    run = web.call("search_and_scrape", arguments)
    answer = run.document  # which the client of the tests reads, and 65,535 bytes of it at most
    assert 50_000 < len(run.stdout) <= 65_535
    assert len(answer["sources"]) == 6
    assert all(one["truncated"] for one in answer["sources"])
    assert "include_sources" in answer["truncationHint"]
    texts = web.answer("search_and_scrape", {**arguments, "include_sources": False})
    assert "sources" not in texts
    assert len(texts["combinedContent"]) > 1.5 * len(answer["combinedContent"])


@pytest.mark.slow
def test_a_large_answer_is_an_artifact_where_these_are_on(web: Web, server: Server, find: Find) -> None:
    find("/a")
    server.page("/a", page("Umbrella", *(f"umbrella history {line}: {WORDS}" for line in range(400))))
    run = web.call("search_and_scrape", {"query": "umbrella history"}, {"FERRULE_WRAPPERS": "artifacts"})
    assert run.exit_code == 0
    assert "resource" in run.document
    assert len(run.stdout) < 10_000


@pytest.mark.slow
def test_an_equal_call_asks_nobody_and_a_partial_one_is_kept_for_a_minute(web: Web, server: Server, find: Find) -> None:
    find("/good")
    server.page("/good", about("umbrella history"))
    cache = {"FERRULE_WRAPPERS": "cache"}
    for query in ("umbrella history", "  umbrella history\n"):
        answer = web.answer("search_and_scrape", {"query": query}, cache)
    assert answer["_meta"]["cache"]["cached"]
    assert (len(web.asked_brave), len(server.requests)) == (1, 1)
    server.route("/good", lambda exchange: exchange.answer(b"no", status=503))
    for _ in range(2):
        answer = web.answer("search_and_scrape", {"query": "another"}, cache)
    assert answer["_meta"]["cache"]["maxAgeSeconds"] == 60


@pytest.mark.slow
def test_a_search_that_no_provider_answers_is_the_error_of_web_search(web: Web) -> None:
    web.brave.route("*", lambda exchange: exchange.answer(b"{}", "application/json", status=401))
    run = web.call("search_and_scrape", {"query": "umbrella", "provider": "brave"})
    assert (run.document["success"], run.document["error_code"], run.document["kind"]) == (
        False,
        "AUTH_INVALID",
        "auth_required",
    )
    assert web.call("search_and_scrape", {"query": "  "}).document["error_code"] == "INVALID_INPUT"
    assert json.loads(web.call("search_and_scrape", {}).stdout)["error_code"] == "INVALID_INPUT"
