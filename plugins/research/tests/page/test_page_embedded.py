"""What a page says of itself: JSON-LD, OpenGraph, Highwire, within bounds."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from ferrule_dev.testing import Server

pytestmark = pytest.mark.process


Scrape = Callable[..., dict[str, Any]]
At = Callable[..., str]
PROSE = "<p>" + "There are some words in this sentence, and it goes on for a while. " * 4


def block(value: Any) -> str:
    return f'<script type="application/ld+json">{value if isinstance(value, str) else json.dumps(value)}</script>'


def data(server: Server, scrape: Scrape, source: str) -> dict[str, Any]:
    answer: dict[str, Any] = scrape(server.page("/", source + PROSE), include_structured_data=True)
    return answer.get("structuredData", {})


def test_each_part_is_there_only_where_it_is_found(server: Server, scrape: Scrape) -> None:
    assert "structuredData" not in scrape(server.page("/", PROSE))
    assert data(server, scrape, '<meta property="og:type" content="article">') == {"openGraph": {"og:type": "article"}}
    assert data(server, scrape, '<meta name="citation_doi" content="10.1000/x">') == {
        "citation": {"citation_doi": "10.1000/x"}
    }


def test_json_ld_is_given_back_as_it_is_and_what_is_invalid_is_left_out(server: Server, scrape: Scrape) -> None:
    value = {"@type": "Article", "n": [1, 2.5, None, True, {"a": "é </b>".replace("</", "<\\/")}]}
    found = data(server, scrape, block(value) + block("{broken") + block("[NaN]") + block('{"a": 1e999}') + block([1]))
    assert found == {"jsonLd": [json.loads(json.dumps(value)), [1]]}


@pytest.mark.parametrize(
    "hidden",
    [
        "<!-- {} -->",
        "<template>{}</template>",
        "<textarea>{}</textarea>",
    ],
)
def test_what_is_no_element_of_the_page_is_not_read(server: Server, scrape: Scrape, hidden: str) -> None:
    assert data(server, scrape, hidden.format(block({"a": 1}) + '<meta property="og:title" content="x">')) == {}


def test_text_that_json_cannot_hold_is_left_out(server: Server, scrape: Scrape) -> None:
    found = data(
        server, scrape, block('{"a": "x\\ud800\\u0000\\u202ey"}') + '<meta property="og:title" content="a&#x202e;b">'
    )
    assert found == {"jsonLd": [{"a": "xy"}], "openGraph": {"og:title": "ab"}}


def test_what_nests_too_deeply_is_left_out(server: Server, scrape: Scrape) -> None:
    deep = "[" * 20 + "]" * 20
    assert data(server, scrape, block("[" * 5_000 + "]" * 5_000) + block("[" * 100 + "]" * 100) + block(deep)) == {
        "jsonLd": [json.loads(deep)]
    }


def test_sixteen_blocks_are_read(server: Server, scrape: Scrape) -> None:
    found = data(server, scrape, "".join(block({"n": number}) for number in range(20)))
    assert [one["n"] for one in found["jsonLd"]] == list(range(16))


def test_a_block_has_32_kb_and_all_have_64(server: Server, scrape: Scrape, make_context: Any) -> None:
    exact = json.dumps({"a": "x" * (32_768 - len(json.dumps({"a": ""})))})
    assert len(exact) == 32_768
    page = server.page("/", block(exact) + block(exact.replace('"x', '"xx', 1)) + PROSE)
    wanted = {"include_structured_data": True, "max_length": 1 << 20, "within": make_context(max_bytes=1 << 20)}
    found = scrape(page, **wanted)["structuredData"]["jsonLd"]
    assert len(found) == 1
    small = [json.dumps({"n": number, "fill": "x" * 19_970}) for number in range(5)]
    page = server.page("/", "".join(map(block, small)) + PROSE)
    found = scrape(page, **wanted)["structuredData"]["jsonLd"]
    assert [one["n"] for one in found] == [0, 1, 2]


def test_a_map_has_64_values_of_2_kb_at_most(server: Server, scrape: Scrape) -> None:
    metas = "".join(f'<meta property="og:x{number}" content="{"é" * 2_000}">' for number in range(70))
    url = server.page("/", metas + PROSE)
    graph = scrape(url, include_structured_data=True, max_length=200_000)["structuredData"]["openGraph"]
    assert all(len(value.encode()) == 2_048 for value in graph.values())
    metas = "".join(f'<meta property="og:x{number}" content="v">' for number in range(70))
    assert len(data(server, scrape, metas)["openGraph"]) == 64


def test_several_authors_are_one_value_and_the_first_of_other_tags_counts(server: Server, scrape: Scrape) -> None:
    source = (
        '<meta name="citation_author" content="Lee, Ann"><meta name="Citation_Author" content="Ek, Bo">'
        '<meta property="og:image" content="1"><meta property="og:image" content="2">'
        '<meta property="article:tag" content="t">'
    )
    assert data(server, scrape, source) == {
        "openGraph": {"og:image": "1", "article:tag": "t"},
        "citation": {"citation_author": "Lee, Ann; Ek, Bo"},
    }


def test_without_being_asked_for_there_is_what_is_short_and_stands_nowhere_else(server: Server, scrape: Scrape) -> None:
    source = (
        '<meta property="og:title" content="T"><meta property="og:type" content="article">'
        '<meta name="citation_title" content="T"><meta name="citation_keywords" content="dams">'
    )
    answer = scrape(server.page("/", source + block({"long": "x" * 2_000}) + block({"n": 1}) + PROSE))
    assert answer["structuredData"] == {
        "jsonLd": [{"n": 1}],
        "openGraph": {"og:type": "article"},
        "citation": {"citation_keywords": "dams"},
    }


@pytest.mark.slow
def test_a_page_that_defeats_the_parser_is_an_answer_without_them(server: Server, scrape: Scrape) -> None:
    html = block({"a": 1}) + PROSE + "<p>Some words</p>" + "<b><i>" * 300_000
    answer = scrape(server.page("/", html), max_length=2_000)
    assert answer["extractionQuality"] == "partial"
    assert "Some words" in answer["content"]


def reddit(statistics: Any, **more: Any) -> str:
    post = {"@type": "DiscussionForumPosting", "interactionStatistic": statistics, **more}
    return block({"@context": "https://schema.org", "@graph": [{"@type": "WebSite"}, post]})


def counter(action: Any, count: Any) -> dict[str, Any]:
    return {"@type": "InteractionCounter", "interactionType": action, "userInteractionCount": count}


@pytest.mark.parametrize(
    "statistics",
    [
        [counter("https://schema.org/LikeAction", 120), counter("https://schema.org/CommentAction", 7)],
        [counter({"@type": "LikeAction"}, "120"), counter({"@type": "http://schema.org/CommentAction"}, "7")],
    ],
)
def test_forum_signals_are_those_of_the_post(scrape: Scrape, at: At, statistics: Any) -> None:
    author = {"@type": "Person", "name": "somebody"}
    source = reddit(statistics, author=author, datePublished="2025-02-03T04:05:06.000Z")
    answer = scrape(at("http://www.reddit.com/r/x/comments/1/y/", source))
    assert answer["forumSignals"] == {
        "platform": "reddit",
        "upvotes": 120,
        "comments": 7,
        "datePublished": "2025-02-03T04:05:06.000Z",
        "authorName": "somebody",
    }
    assert answer["sourceType"] == "forum"


def test_few_votes_have_a_note(scrape: Scrape, at: At) -> None:
    def note(count: int) -> str | None:
        url = at("http://old.reddit.com/r/x", reddit(counter("LikeAction", count)))
        return scrape(url)["forumSignals"].get("credibilityNote")  # type: ignore[no-any-return] # JSON

    assert note(19)
    assert note(20) is None


@pytest.mark.parametrize("host", ["notreddit.com", "reddit.com.example", "example.com"])
def test_forum_signals_are_of_reddit_alone_and_never_null(scrape: Scrape, at: At, host: str) -> None:
    assert "forumSignals" not in scrape(at(f"http://{host}/r/x", reddit(counter("LikeAction", 5))))


def test_a_post_without_json_ld_has_no_signals(scrape: Scrape, at: At) -> None:
    assert "forumSignals" not in scrape(at("http://www.reddit.com/r/x"))


def test_a_number_that_clients_cannot_hold_is_text(server: Server, scrape: Scrape) -> None:
    number = "1" + "0" * 400
    source = f'<script type="application/ld+json">{{"@type": "Article", "headline": "H", "n": {number}}}</script>'
    answer = scrape(server.page("/", source + "<p>Words.</p>" * 30), include_structured_data=True)
    assert answer["structuredData"]["jsonLd"][0]["n"] == number
    assert answer["citation"]["metadata"]["title"] == "H"


def test_votes_beyond_all_numbers_are_an_answer(scrape: Scrape, at: At) -> None:
    post = {"@type": "DiscussionForumPosting", "upvoteCount": 1e300, "commentCount": "9" * 40, "author": "a" * 9000}
    signals = scrape(
        at("http://www.reddit.com/r/a/1", f'<script type="application/ld+json">{json.dumps(post)}</script>')
    )
    assert signals["forumSignals"]["upvotes"] == signals["forumSignals"]["comments"] == 2**53 - 1
    assert signals["forumSignals"]["authorName"] == "a" * 200


def test_a_page_without_words_is_read_from_its_data_and_partial(server: Server, scrape: Scrape) -> None:
    state = {"title": "Gates", "text": "Four oak gates were lifted out of the river on Monday morning."}
    html = f'<div id="root"></div><script>window.__NUXT__={json.dumps(state)}</script>'
    answer = scrape(server.page("/", html))
    assert answer["content"].startswith("[The HTML of this page has no words. What follows was read from its data")
    assert answer["content"].endswith(f"# Gates\n\n{state['text']}")
    assert (answer["extractedBy"], answer["extractionQuality"]) == ("nuxt-data", "partial")
    assert scrape(server.page("/words", PROSE))["extractedBy"] == "html"
