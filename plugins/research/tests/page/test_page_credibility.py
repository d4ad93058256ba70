"""What kind of source a page is, and what became of a paper."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from ferrule_dev.testing import Exchange, Server
from ferrule_research.page.credibility.classification import SourceType, classify
from ferrule_research.page.credibility.doi import detect_doi
from ferrule_research.page.metadata.bibliography import read_bibliography
from ferrule_research.page.metadata.embedded import NO_DATA

pytestmark = pytest.mark.process


Scrape = Callable[..., dict[str, Any]]
At = Callable[..., str]

LANCET = "10.1016/S0140-6736(97)11096-0"
HIGHWIRE = f'<meta name="citation_doi" content="{LANCET}"><meta name="citation_journal_title" content="The Lancet">'


def of_host(host: str) -> SourceType:
    url = f"https://{host}/page"
    return classify(url, read_bibliography(NO_DATA, url), NO_DATA)


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("www.nature.com", ("peer_reviewed", "high", "academic")),
        ("signature.com", ("unknown", "low", "general")),
        ("nature.com.example.org", ("unknown", "low", "general")),
        ("notnature.com", ("unknown", "low", "general")),
        ("pubmed.ncbi.nlm.nih.gov", ("peer_reviewed", "high", "medical")),
        ("www.nih.gov", ("government", "high", "medical")),
        ("city.example.gov", ("government", "high", "general")),
        ("www.service.gov.uk", ("government", "high", "general")),
        ("www.soumu.go.jp", ("government", "high", "general")),
        ("somebody.go.to", ("unknown", "low", "general")),
        ("somebody.govern.io", ("unknown", "low", "general")),
        ("www.interieur.gouv.fr", ("government", "high", "general")),
        ("gov.example.com", ("unknown", "low", "general")),
        ("mygov.com", ("unknown", "low", "general")),
        ("go.com", ("unknown", "low", "general")),
        ("cs.stanford.edu", ("unknown", "medium", "academic")),
        ("www.ox.ac.uk", ("unknown", "medium", "academic")),
        ("ac.me", ("unknown", "low", "general")),
        ("edu.example.com", ("unknown", "low", "general")),
        ("en.wikipedia.org", ("wiki", "medium", "general")),
        ("docs.python.org", ("official_docs", "high", "technical")),
        ("docs.example.com", ("official_docs", "medium", "technical")),
        ("docs.google.com", ("unknown", "low", "general")),
        ("blog.example.com", ("blog", "low", "general")),
        ("someone.substack.com", ("blog", "low", "general")),
        ("www.reddit.com", ("forum", "low", "general")),
        ("x.com", ("social_media", "low", "general")),
        ("netflix.com", ("unknown", "low", "general")),
        ("www.bbc.co.uk", ("news_publication", "high", "general")),
        ("abbc.co.uk", ("unknown", "low", "general")),
        ("", ("unknown", "low", "general")),
    ],
)
def test_a_host_is_known_by_its_labels_alone(host: str, expected: tuple[str, str, str]) -> None:
    assert tuple(of_host(host)) == expected


def ld(*types: str) -> str:
    return f'<script type="application/ld+json">{json.dumps({"@type": list(types)})}</script>'


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (ld("NewsArticle"), "news_publication"),
        (ld("https://schema.org/BlogPosting"), "blog"),
        (ld("schema:ScholarlyArticle"), "peer_reviewed"),
        (ld("DiscussionForumPosting"), "forum"),
        (ld("TechArticle"), "official_docs"),
        (ld("NotNewsArticles"), "unknown"),
        (HIGHWIRE, "peer_reviewed"),
    ],
)
def test_a_page_may_say_what_it_is_but_not_how_good(scrape: Scrape, at: At, source: str, expected: str) -> None:
    answer = scrape(at("http://site.example/a", source))
    assert answer["sourceType"] == expected
    assert answer["authorityTier"] == "low"


@pytest.mark.parametrize(
    ("url", "text", "expected"),
    [
        (f"https://h/doi/full/{LANCET}", "", LANCET),
        ("https://h/doi/10.1000%2Fabc.1/", "", "10.1000/abc.1"),
        ("https://h/doi/10.1000/abc.1/full", "", "10.1000/abc.1"),
        ("https://h/doi/pdf/10.1000/abc.1.pdf", "", "10.1000/abc.1"),
        ("https://h/?doi=10.1000/abc", "", ""),
        ("https://h/doi/10.1000/abc;jsessionid=1F2", "", "10.1000/abc"),
        ("https://h/content/10.1101/2020.01.01.123456v2.full", "", "10.1101/2020.01.01.123456"),
        ("https://h/doi/10.1000/abc1v2", "", "10.1000/abc1v2"),
        ("https://h/a", "See (https://doi.org/10.1000/abc\\_1).", "10.1000/abc_1"),
        ("https://h/a", "[10.1000/abc](https://doi.org/10.1000/abc).", "10.1000/abc"),
        ("https://h/a", "version 10.1000 / 10.5", ""),
        ("https://h/a", "x" * 4_000 + " 10.1000/abc", ""),
        ("https://h/a", "Words.\n\n## References\n\n1. doi:10.1000/abc", ""),
        ("https://h/a", "210.1000/abc", ""),
    ],
)
def test_a_doi_is_found_in_the_path_or_at_the_beginning(url: str, text: str, expected: str) -> None:
    assert detect_doi(NO_DATA, url, text) == expected


def test_the_doi_of_highwire_comes_first(scrape: Scrape, at: At) -> None:
    answer = scrape(at("http://site.example/doi/10.9999/other", HIGHWIRE))
    assert answer["detectedDoi"] == LANCET


def test_a_page_that_is_no_paper_has_no_doi(scrape: Scrape, at: At) -> None:
    body = "<p>" + "This is about the paper 10.1000/abc, which others wrote. " * 5
    assert "detectedDoi" not in scrape(at("http://site.example/10.1000/abc", "", body))
    assert scrape(at("http://www.nature.com/a", "", body))["detectedDoi"] == "10.1000/abc"


@pytest.fixture
def crossref(server: Server, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Have a server in Crossref's place say this of a DOI, in the shape that api.crossref.org has."""
    monkeypatch.setenv("FERRULE_CROSSREF_ENDPOINT", server.url)

    def say(message: Any, status: int = 200) -> None:
        document = {"status": "ok", "message-type": "work", "message-version": "1.0.0", "message": message}
        server.page("/works/10.1016/S0140-6736%2897%2911096-0", json.dumps(document), "application/json", status=status)

    return say


def update(
    kind: str, source: str = "retraction-watch", day: tuple[int, ...] = (2010, 2, 6), doi: str = "10.1/n"
) -> Any:
    updated = {"date-parts": [list(day)], "date-time": "2010-02-06T00:00:00Z", "timestamp": 1265414400000}
    return {"DOI": doi, "type": kind, "label": kind.title(), "source": source, "updated": updated, "record-id": "4258"}


def status(scrape: Scrape, at: At) -> Any:
    return scrape(at("http://site.example/a", HIGHWIRE)).get("retractionStatus")


def test_a_retracted_paper_is_told(scrape: Scrape, at: At, crossref: Callable[..., None]) -> None:
    notice = "10.1016/s0140-6736(10)60175-4"
    crossref(
        {
            "DOI": LANCET.lower(),
            "updated-by": [update("correction", day=(2004, 3, 6)), update("retraction", doi=notice)],
        }
    )
    assert status(scrape, at) == {
        "retracted": True,
        "kind": "retraction",
        "date": "2010-02-06",
        "noticeDoi": notice,
        "source": "retraction-watch",
    }


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        (["retraction", "expression_of_concern"], (True, "retraction")),
        (["withdrawal"], (True, "retraction")),
        (["removal", "correction"], (True, "retraction")),
        (["expression_of_concern", "correction"], (False, "expression_of_concern")),
        (["Expression-of-Concern"], (False, "expression_of_concern")),
        (["correction"], (False, "correction")),
        (["erratum"], (False, "correction")),
        (["corrigendum"], (False, "correction")),
        (["partial_retraction"], (False, "correction")),
        (["new_version"], None),
        (["new_edition", "something_new"], None),
        ([], None),
    ],
)
def test_the_gravest_notice_counts_and_each_is_what_it_is(
    scrape: Scrape, at: At, crossref: Callable[..., None], kinds: list[str], expected: tuple[bool, str] | None
) -> None:
    crossref({"updated-by": [update(kind, "publisher") for kind in kinds]})
    found = status(scrape, at)
    assert (found and (found["retracted"], found["kind"])) == expected


def test_a_notice_about_another_paper_is_none_about_this_one(
    scrape: Scrape, at: At, crossref: Callable[..., None]
) -> None:
    crossref({"title": ["Retraction"], "update-to": [update("retraction", doi="10.1000/another")]})
    assert status(scrape, at) is None
    crossref({"update-to": [update("retraction", doi=LANCET.lower())]})
    assert status(scrape, at)["retracted"] is True


def test_a_date_is_told_as_far_as_it_is_known(scrape: Scrape, at: At, crossref: Callable[..., None]) -> None:
    crossref({"updated-by": [{"type": "retraction", "updated": {"date-parts": [[2010]]}}]})
    assert status(scrape, at) == {"retracted": True, "kind": "retraction", "date": "2010"}
    crossref({"updated-by": [{"type": "retraction", "source": "somebody", "updated": "soon"}]})
    assert status(scrape, at) == {"retracted": True, "kind": "retraction"}


@pytest.mark.parametrize(
    "message", [None, [], "x", {"updated-by": "x"}, {"updated-by": [5, None]}, {"updated-by": [{}]}]
)
def test_an_answer_of_another_shape_says_nothing(
    scrape: Scrape, at: At, crossref: Callable[..., None], message: Any
) -> None:
    crossref(message)
    assert status(scrape, at) is None


def test_nothing_is_guessed_where_crossref_does_not_know_or_cannot_be_asked(
    scrape: Scrape, at: At, server: Server, crossref: Callable[..., None]
) -> None:
    crossref({"updated-by": [update("retraction")]}, status=404)
    assert status(scrape, at) is None
    server.page("/works/10.1016/S0140-6736%2897%2911096-0", "<html>", "application/json")
    assert status(scrape, at) is None


@pytest.mark.slow
def test_a_silent_crossref_does_not_take_the_answer_along(
    scrape: Scrape, at: At, server: Server, monkeypatch: pytest.MonkeyPatch, make_context: Any
) -> None:
    monkeypatch.setenv("FERRULE_CROSSREF_ENDPOINT", server.url)
    server.route("/works/10.1016/S0140-6736%2897%2911096-0", Exchange.hang)
    within = make_context(seconds=3)
    answer = scrape(at("http://site.example/a", HIGHWIRE), within=within)
    assert answer["detectedDoi"] == LANCET
    assert "retractionStatus" not in answer
    assert within.remaining() > 0
