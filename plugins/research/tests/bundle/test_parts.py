"""The parts of a bundle: paragraphs, scores, joined texts."""

import errno
import os
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferrule_dev.testing import context
from ferrule_research.bundle.combination import SEPARATOR, combine
from ferrule_research.bundle.pages import Source, read_pages
from ferrule_research.bundle.paragraphs import SeenParagraphs, split_paragraphs
from ferrule_research.bundle.ranks import rank
from ferrule_research.bundle.request import Request
from ferrule_research.bundle.scores import score
from ferrule_research.search.claims import find_key_sentences

LONG = "This paragraph is long enough to be compared with those of other pages, which have it, too."


def source(title: str = "", text: str = "", **more: str) -> Source:
    url, date, tier = more.get("url", "https://a.example/"), more.get("date", ""), more.get("tier", "low")
    return Source(url, title, "", "", "", date, "", text, {"authorityTier": tier}, {"url": url})


@given(st.lists(st.text(max_size=300), max_size=6), st.integers(0, 900))
def test_joined_texts_keep_their_size_and_their_characters(texts: list[str], size: int) -> None:
    joined = combine(texts, size)
    assert len(joined.encode()) <= size
    whole = combine(texts, 10_000)
    assert whole == SEPARATOR.join(texts)
    assert "\ufffd" not in joined or "\ufffd" in whole


def test_a_block_of_code_is_one_paragraph() -> None:
    code = "```python\na = 1\n\nb = 2\n```"
    assert split_paragraphs(f"First.\n\n\n{code}\n\nLast.") == ["First.", code, "Last."]
    assert split_paragraphs("````\n```\n\nx\n````\ny") == ["````\n```\n\nx\n````\ny"]


def test_what_stands_twice_is_kept_once_whatever_its_blanks_and_case() -> None:
    seen = SeenParagraphs()
    assert seen.drop_repeats(f"# Title\n\n{LONG}") == f"# Title\n\n{LONG}"
    assert seen.drop_repeats(f"# Title\n\n{LONG.upper()}\n\nNews.\n\n{LONG}  ") == "# Title\n\nNews."
    assert seen.repeated == 2


def test_relevance_counts_whole_words_and_the_title() -> None:
    def relevance(title: str, text: str) -> float:
        return score(source(title, text), "the art of rain").relevance

    assert relevance("Art", "rain and art") > relevance("", "rain and art") > relevance("", "art alone")
    assert relevance("", "start and train") == 0.0
    assert score(source("x", "y"), "of the").relevance == 0.5


@pytest.mark.parametrize(("days", "freshness"), [(0, 1.0), (3, 0.9), (20, 0.7), (200, 0.5), (2000, 0.3), (None, 0.5)])
def test_freshness_is_by_the_date_that_the_page_or_the_search_has(days: int | None, freshness: float) -> None:
    date = "" if days is None else time.strftime("%Y-%m-%d", time.gmtime(time.time() - days * 86_400))
    assert score(source(date=date), "q").freshness == freshness
    by_search = source()._replace(found={"url": "u", "published": f"{date}T10:00:00" if date else ""})
    assert score(by_search, "q").freshness == freshness


def test_authority_is_by_what_is_known_of_the_host() -> None:
    assert score(source(tier="high"), "q").authority == 0.9
    assert score(source(tier="medium"), "q").authority == 0.7
    assert score(source(tier="low"), "q").authority == 0.5


def test_the_overall_score_weighs_the_others() -> None:
    scores = score(source("rain", "rain " * 300, tier="high"), "rain")
    parts = 0.35 * scores.relevance + 0.2 * scores.freshness + 0.25 * scores.authority + 0.2 * scores.contentQuality
    assert scores.overall == round(parts, 2)


def test_key_sentences_stand_in_the_order_of_the_text() -> None:
    text = "Rain falls in Oslo. Nothing is here. It rains 9 days in Oslo, a study found. Rain! Bees fly."
    found = find_key_sentences("It rains in Oslo on 9 days", text, 2)
    assert found == ["Rain falls in Oslo.", "It rains 9 days in Oslo, a study found."]
    assert find_key_sentences("zeppelin", text, 5) == []


def test_a_page_of_which_only_headings_are_left_is_counted_and_left_out() -> None:
    pages = [source("Rain", f"# Rain {number}\n\n{LONG}", url=f"https://a.example/{number}") for number in range(3)]
    ranking = rank(pages, Request.of({"query": "rain"}))
    assert [one.source.url for one in ranking.ranked] == ["https://a.example/0"]
    assert (ranking.repeated_pages, ranking.repeated_paragraphs) == (2, 2)
    assert len(rank(pages, Request.of({"query": "rain", "deduplicate": False})).ranked) == 3


@pytest.mark.process
def test_pages_for_which_the_system_gives_no_process_are_failures(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> int:
        raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")

    monkeypatch.setattr(os, "fork", refuse)
    results = [{"url": "https://a.example/"}, {"url": "https://b.example/"}]
    sources, failures = read_pages(results, context("search_and_scrape"), 1000)
    assert sources == []
    assert [one.facts["url"] for one in failures] == ["https://a.example/", "https://b.example/"]
    assert all(one.facts["reason"] for one in failures)
