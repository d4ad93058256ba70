"""What a call asks Google for, and what it gives back."""

import pytest

from ferrule_dev.testing import Server
from ferrule_testkit.search.provider_contract import Answer, Search, mixed_hits, numbers
from ferrule_testkit.search.server import ENGINE, GOOGLE_KEY, Google, Hit, asked, google_document, some_hits

pytestmark = pytest.mark.process


EVERY = {"key": GOOGLE_KEY, "cx": ENGINE}


def test_the_request_is_as_the_mapping_says(server: Server, search: Search) -> None:
    server.route("*", Google(some_hits(50)))
    search(query="söme & wörds", num=7, start=5)
    assert asked(server) == [{"q": "söme & wörds", "num": "7", "start": "5", **EVERY}]
    assert server.requests[0].method == "GET"


def test_ten_results_from_the_first_are_asked_for_where_nothing_else_is_said(server: Server, search: Search) -> None:
    server.route("*", Google(some_hits(50)))
    assert numbers(search()) == list(range(10))
    assert asked(server) == [{"q": "some words", "num": "10", "start": "1", **EVERY}]


def test_paging_through_gives_every_result_once(server: Server, search: Search) -> None:
    server.route("*", Google(some_hits(99)))
    found = [number for start in range(1, 92, 9) for number in numbers(search(start=start, num=9))]
    assert found == list(range(99))


def test_text_stays_as_it_is_and_markup_goes(answer: Answer, search: Search) -> None:
    hits = [
        Hit("The <title> tag & vector<int>", "https://a.example/", "if a < b and\nb > c ..."),
        Hit("<b>Bold</b> &amp; <em>plain</em>", "https://b.example/", "It&#39;s&nbsp;here<br>now"),
    ]
    answer(google_document(hits))
    assert [(one["title"], one["snippet"]) for one in search()["results"]] == [
        ("The <title> tag & vector<int>", "if a < b and b > c ..."),
        ("Bold & plain", "It's here now"),
    ]


@pytest.mark.parametrize(
    ("item", "published"),
    [
        ({"snippet": "Jan 2, 2026 ... the text"}, "2026-01-02"),
        ({"snippet": "2 Jan 2026 … the text"}, "2026-01-02"),
        ({"snippet": "text", "pagemap": {"metatags": [{"article:published_time": "2026-01-02T04:00:00+01:00"}]}},
         "2026-01-02T03:00:00Z"),
        ({"snippet": "On Jan 2, 2026 ... the text", "pagemap": {"metatags": "none"}}, None),
        ({"snippet": 5, "pagemap": []}, None),
    ],
)  # fmt: skip
def test_a_date_is_told_where_google_tells_it(
    answer: Answer, search: Search, item: dict[str, object], published: str | None
) -> None:
    answer({"items": [{"title": "t", "link": "https://a.example/", **item}]})
    assert search()["results"][0].get("published") == published


def test_the_last_page_is_served(server: Server, search: Search) -> None:
    server.route("*", Google(some_hits(200)))
    assert numbers(search(start=91)) == list(range(90, 100))


# ---- domains


@pytest.mark.parametrize(
    ("domains", "expected"),
    [
        pytest.param(
            {"allowed_domains": ["Example.org"]},
            {"q": "some words", "siteSearch": "example.org", "siteSearchFilter": "i"},
            id="one-allowed",
        ),
        pytest.param(
            {"allowed_domains": ["example.org", "docs.example.org"]},
            {"q": "some words", "siteSearch": "example.org", "siteSearchFilter": "i"},
            id="one-allowed-includes-the-other",
        ),
        pytest.param(
            {"blocked_domains": ["https://example.com/x"]},
            {"q": "some words", "siteSearch": "example.com", "siteSearchFilter": "e"},
            id="one-blocked",
        ),
        pytest.param(
            {"allowed_domains": ["example.org"], "blocked_domains": ["old.example.org"]},
            {"q": "some words -site:old.example.org", "siteSearch": "example.org", "siteSearchFilter": "i"},
            id="one-of-each",
        ),
        pytest.param(
            {"allowed_domains": ["example.org", "example.net"]},
            {"q": "some words site:example.org OR site:example.net"},
            id="two-allowed",
        ),
        pytest.param(
            {"blocked_domains": ["example.com", "notexample.org"]},
            {"q": "some words -site:example.com -site:notexample.org"},
            id="two-blocked",
        ),
        pytest.param(
            {"allowed_domains": ["example.org", "example.net"], "blocked_domains": ["old.example.org"]},
            {"q": "some words site:example.org OR site:example.net -site:old.example.org"},
            id="two-allowed-and-one-blocked",
        ),
        pytest.param({"allowed_domains": [""], "blocked_domains": []}, {"q": "some words"}, id="none"),
    ],
)
def test_google_filters_as_far_as_it_can(
    server: Server, search: Search, domains: dict[str, list[str]], expected: dict[str, str]
) -> None:
    server.route("*", Google(some_hits(10, "docs.example.org")))
    assert search(**domains)["count"] == 10
    assert asked(server) == [{**expected, "num": "10", "start": "1", **EVERY}]


def test_one_site_needs_no_further_pages(server: Server, search: Search) -> None:
    server.route("*", Google(mixed_hits(90), heeds_sites=True))
    assert numbers(search(allowed_domains=["example.org"], num=5, start=3)) == [6, 9, 12, 15, 18]
    assert len(server.requests) == 1


def test_what_google_lets_through_is_filtered_over_further_pages(server: Server, search: Search) -> None:
    server.route("*", Google(mixed_hits(90)))
    found = search(allowed_domains=["example.org", "example.net"], num=6)
    assert numbers(found) == [0, 3, 6, 9, 12, 15]
    assert [(one["start"], one["num"]) for one in asked(server)] == [("1", "6"), ("7", "10")]


def test_a_filter_asks_for_no_more_than_google_serves(
    server: Server, search: Search, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FERRULE_SEARCH_MAX_REQUESTS", "11")
    server.route("*", Google(some_hits(500)))
    assert search(blocked_domains=["example.com"])["count"] == 0
    asked_for = [(int(one["start"]), int(one["num"])) for one in asked(server)]
    assert asked_for == [(start, 10) for start in range(1, 92, 10)]


def test_operators_that_do_not_fit_are_left_to_the_filter(
    server: Server, search: Search, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FERRULE_SEARCH_MAX_REQUESTS", "10")
    server.route("*", Google(mixed_hits(99)))
    domains = ["example.com", "notexample.org", *(f"domain-number-{n}.example" for n in range(100))]
    found = [n for start in (1, 11, 21) for n in numbers(search(blocked_domains=domains, start=start))]
    assert found == list(range(0, 90, 3))
    assert {one["q"] for one in asked(server)} == {"some words"}
