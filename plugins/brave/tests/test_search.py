"""What a call asks Brave for, and what it gives back."""

from typing import Any

import pytest

from ferrule_brave.provider import MAX_PAGE_RESULTS, MAX_RESULTS, PAGES, pages
from ferrule_dev.testing import Server
from ferrule_testkit.search.provider_contract import Answer, Search, mixed_hits, numbers
from ferrule_testkit.search.server import BRAVE_KEY, Brave, Hit, asked, brave_document, some_hits

pytestmark = pytest.mark.process


def test_the_request_is_as_the_mapping_says(server: Server, search: Search) -> None:
    server.route("*", Brave(some_hits(50)))
    search(query="söme & wörds", count=7)
    (request,) = server.requests
    assert request.method == "GET"
    assert asked(server) == [{"q": "söme & wörds", "count": "7", "offset": "0"}]
    assert request.headers["x-subscription-token"] == BRAVE_KEY
    assert (request.headers["accept"], request.headers["accept-encoding"]) == ("application/json", "gzip")
    assert BRAVE_KEY not in request.target


def test_ten_results_are_asked_for_where_no_count_is_given(server: Server, search: Search) -> None:
    server.route("*", Brave(some_hits(50)))
    assert search()["count"] == 10
    assert asked(server) == [{"q": "some words", "count": "10", "offset": "0"}]


def test_what_fits_is_asked_for_where_only_the_default_does_not(server: Server, search: Search) -> None:
    server.route("*", Brave(some_hits(MAX_RESULTS)))
    assert numbers(search(offset=195)) == list(range(195, 200))
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("offset", "count", "requests"),
    [
        pytest.param(10, 10, [(10, 1)], id="the-second-page"),
        pytest.param(5, 10, [(15, 0)], id="within-a-larger-page"),
        pytest.param(3, 2, [(3, 1)], id="on-another-grid"),
        pytest.param(15, 10, [(13, 1)], id="on-an-odd-grid"),
        pytest.param(19, 20, [(20, 0), (20, 1)], id="across-two-pages"),
        pytest.param(190, 10, [(20, 9)], id="at-the-end"),
        pytest.param(199, 1, [(20, 9)], id="the-very-last"),
    ],
)
def test_an_offset_counts_results(
    server: Server, search: Search, offset: int, count: int, requests: list[tuple[int, int]]
) -> None:
    server.route("*", Brave(some_hits(MAX_RESULTS)))
    assert numbers(search(offset=offset, count=count)) == list(range(offset, offset + count))
    assert [(int(one["count"]), int(one["offset"])) for one in asked(server)] == requests


def test_every_range_is_covered_by_the_fewest_pages() -> None:
    for count in range(1, MAX_PAGE_RESULTS + 1):
        for offset in range(MAX_RESULTS - count + 1):
            plan = pages(offset, count)
            held = [place for size, number in plan for place in range(size * number, size * (number + 1))]
            assert set(range(offset, offset + count)) <= set(held)
            assert all(1 <= size <= MAX_PAGE_RESULTS and 0 <= number < PAGES for size, number in plan)
            one_would_do = any(
                (offset + count - 1) // size == offset // size < PAGES for size in range(1, MAX_PAGE_RESULTS + 1)
            )
            assert len(plan) == (1 if one_would_do else 2)


def test_results_beyond_what_there_is_are_none(server: Server, search: Search) -> None:
    server.route("*", Brave(some_hits(5)))
    assert search(offset=20) == {"success": True, "results": [], "count": 0}


def test_markup_and_entities_become_plain_text(answer: Answer, search: Search) -> None:
    hit = Hit(
        "Rust&#x27;s <strong>async</strong> &amp; you",
        "https://a.example/?a=1&b=2",
        "The <strong>async</strong> book<br/>for  vector&lt;int&gt;\nand &quot;more&quot;",
    )
    answer(brave_document([hit]))
    assert search()["results"] == [
        {
            "title": "Rust's async & you",
            "url": "https://a.example/?a=1&b=2",
            "snippet": 'The async book for vector<int> and "more"',
            "published": "2026-01-02T03:04:05",
        }
    ]


def test_more_text_of_each_page_is_asked_for_and_shown_where_the_admin_wants_it(
    server: Server, search: Search, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.route("*", Brave(some_hits(1)))
    assert "extra_snippets" not in search()["results"][0]
    monkeypatch.setenv("FERRULE_SEARCH_EXTRA_SNIPPETS", "true")
    assert search()["results"][0]["extra_snippets"] == ["not asked for"]
    assert [one.get("extra_snippets") for one in asked(server)] == [None, "true"]


# ---- domains


def test_allowed_domains_are_put_into_the_query(server: Server, search: Search) -> None:
    server.route("*", Brave(mixed_hits(60), heeds_sites=True))
    found = search(allowed_domains=["https://Example.org./path", "docs.example.org", "café.example"], count=5)
    assert numbers(found) == [0, 3, 6, 9, 12]
    assert [one["q"] for one in asked(server)] == ["some words site:example.org OR site:xn--caf-dma.example"]
    assert [(one["count"], one["offset"]) for one in asked(server)] == [("5", "0")]


def test_results_are_filtered_even_where_brave_overlooks_the_operators(server: Server, search: Search) -> None:
    server.route("*", Brave(mixed_hits(100)))
    found = search(allowed_domains=["example.org"], count=10)
    assert numbers(found) == [0, 3, 6, 9, 12, 15, 18, 21, 24, 27]
    assert [(one["count"], one["offset"]) for one in asked(server)] == [("10", "0"), ("20", "0"), ("20", "1")]


def test_operators_that_do_not_fit_are_left_to_the_filter(server: Server, search: Search) -> None:
    server.route("*", Brave(mixed_hits(100)))
    domains = ["example.org", *(f"domain-number-{n}.example" for n in range(30))]
    assert numbers(search(allowed_domains=domains, count=8)) == [0, 3, 6, 9, 12, 15, 18, 21]
    assert {one["q"] for one in asked(server)} == {"some words"}
    assert numbers(search(query="w " * 49, allowed_domains=["example.org", "example.net"], count=1)) == [0]
    assert asked(server)[-1]["q"] == ("w " * 49).strip()


def test_blocked_domains_are_filtered_over_as_many_pages_as_it_takes(server: Server, search: Search) -> None:
    server.route("*", Brave(mixed_hits(100)))
    found = search(blocked_domains=["EXAMPLE.com", "notexample.org"], count=10)
    assert numbers(found) == [0, 3, 6, 9, 12, 15, 18, 21, 24, 27]
    assert asked(server) == [{"q": "some words", "count": "20", "offset": str(n)} for n in (0, 1)]


def test_paging_through_a_filtered_search_gives_every_result_once(
    server: Server, search: Search, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FERRULE_SEARCH_MAX_REQUESTS", "10")
    server.route("*", Brave(mixed_hits(100)))
    expected = [n for n in range(100) if n % 3 != 1]
    for filters in ({"blocked_domains": ["example.com"]}, {"allowed_domains": [".org"], "blocked_domains": ["x.org"]}):
        found = [n for offset in range(0, 70, 7) for n in numbers(search(offset=offset, count=7, **filters))]
        assert found == expected


def test_a_filter_asks_for_no_more_than_brave_serves(
    server: Server, search: Search, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FERRULE_SEARCH_MAX_REQUESTS", "11")
    server.route("*", Brave(some_hits(500)))
    assert search(blocked_domains=["example.com"]) == {"success": True, "results": [], "count": 0}
    assert [one["offset"] for one in asked(server)] == [str(n) for n in range(10)]


@pytest.mark.parametrize("empty", [[], [""], ["  "]])
def test_an_empty_list_is_no_filter(server: Server, search: Search, empty: list[str]) -> None:
    server.route("*", Brave(some_hits(50)))
    assert search(allowed_domains=empty, blocked_domains=empty)["count"] == 10
    assert asked(server) == [{"q": "some words", "count": "10", "offset": "0"}]


def test_results_that_the_client_would_not_read_are_left_out_and_that_is_told(
    server: Server, search: Search, events: list[dict[str, Any]]
) -> None:
    server.route("*", Brave([Hit(f"{n}", f"https://a.example/{n}", "ü" * 2000) for n in range(20)]))
    found = search(count=20)
    assert numbers(found) == list(range(16))  # of four thousand bytes each
    assert found["count"] == 16
    assert events == [{"event": "search_incomplete", "content": "Results that do not fit were left out: 4."}]
