"""A search for papers: who is asked for what, and what is made of several answers."""

from typing import Any
from urllib.parse import unquote

import pytest

from ferrule_dev.testing import Exchange, Server

from .conftest import EMAIL, Call, Failure, Reply, queries

pytestmark = pytest.mark.process

DEEP = "10.1038/nature14539"


@pytest.fixture
def two(reply: Reply) -> None:
    """OpenAlex and Crossref answer; Crossref also when it is asked for single DOIs."""
    reply("openalex", "/works", "openalex-search.json")
    reply("crossref", "/works", "crossref-search.json")


def titles(answer: dict[str, Any]) -> list[str]:
    return [one["title"] for one in answer["papers"]]


@pytest.mark.usefixtures("two")
def test_what_several_services_know_of_a_paper_is_one_record(call: Call) -> None:
    answer = call("academic_search", query="deep learning", num_results=3)
    first = answer["papers"][0]
    assert titles(answer)[0] == "Deep learning"
    assert titles(answer).count("Deep learning") == 1
    assert first["doi"] == DEEP
    assert first["sources"] == ["crossref", "openalex"]
    assert first["pmid"] == "26017442"
    assert first["citationCount"] == 60000
    assert first["journal"] == "Nature"
    assert first["authors"] == ["Yann LeCun", "Yoshua Bengio", "Geoffrey Hinton"]
    assert answer["source"] == "several"
    assert answer["trust"] == "untrusted-external-content"
    assert answer["resultCount"] == answer["totalResults"] == 3


@pytest.mark.usefixtures("two")
def test_a_doi_that_is_an_example_is_no_paper(call: Call) -> None:
    answer = call("academic_search", query="metaphysics", num_results=10)
    assert "Toward a Unified Theory of High-Energy Metaphysics" not in titles(answer)


@pytest.mark.usefixtures("two")
def test_a_retraction_comes_with_its_notice(call: Call) -> None:
    answer = call("academic_search", query="ileal hyperplasia", num_results=10)
    (status,) = (one["retractionStatus"] for one in answer["papers"] if "retractionStatus" in one)
    assert status == {
        "retracted": True,
        "kind": "retraction",
        "date": "2010-02-06",
        "noticeDoi": "10.1016/s0140-6736(10)60175-4",
        "source": "retraction-watch",
    }
    assert answer["checks"]["retractions"] == {"state": "checked"}


def test_each_service_gets_the_filters_that_it_has(server: Server, call: Call, reply: Reply) -> None:
    reply("openalex", "/works", "openalex-search.json")
    reply("crossref", "/works", "crossref-search.json")
    call(
        "academic_search", query='deep "learning"?', year_from=2010, year_to=2016, author="LeCun", venue="Nature",
        min_citations=10, sort_by="date",
    )  # fmt: skip
    (asked,) = queries(server, "openalex")
    assert asked["search"] == "deep learning"
    assert asked["filter"] == (
        "from_publication_date:2010-01-01,to_publication_date:2016-12-31,cited_by_count:>9,raw_author_name.search:LeCun"
    )
    assert asked["sort"] == "publication_date:desc"
    assert "api_key" not in asked
    searched = queries(server, "crossref")[0]
    assert searched["query.bibliographic"] == 'deep "learning"?'
    assert (searched["query.author"], searched["query.container-title"]) == ("LeCun", "Nature")
    assert searched["filter"] == "from-pub-date:2010,until-pub-date:2016"
    assert (searched["sort"], searched["mailto"]) == ("published", EMAIL)
    assert all(EMAIL in one.headers["user-agent"] for one in server.requests)


@pytest.mark.usefixtures("two")
@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ({"year_from": 2016}, ["Attention Is All You Need"]),
        ({"year_to": 2000}, ["RETRACTED: Ileal"]),
        ({"author": "Y. Bengio"}, ["Deep learning"]),
        ({"author": "hinton"}, ["Deep learning"]),
        ({"venue": "lancet"}, ["RETRACTED: Ileal"]),
        ({"min_citations": 90000}, ["Attention Is All You Need"]),
        ({"open_access": True}, ["Attention Is All You Need"]),
        ({"pdf_only": True}, ["Attention Is All You Need"]),
        ({"source": "nature"}, ["Deep learning"]),
    ],
)
def test_a_filter_holds_for_what_a_service_did_not_filter(
    call: Call, arguments: dict[str, Any], found: list[str]
) -> None:
    answer = call("academic_search", query="learning", **arguments)
    assert [one.startswith(wanted) for one, wanted in zip(titles(answer), found, strict=True)] == [True]


@pytest.mark.usefixtures("two")
def test_papers_by_date_come_newest_first(call: Call) -> None:
    answer = call("academic_search", query="learning", sort_by="date")
    assert [one["year"] for one in answer["papers"]] == [2017, 2015, 1998]


@pytest.mark.slow
def test_the_newest_paper_is_there_where_older_ones_are_found_by_more_services(call: Call, reply: Reply) -> None:
    reply("openalex", "/works", "openalex-search.json")
    reply("crossref", "/works", "crossref-search.json")
    reply("arxiv", "/query", "arxiv-search.xml")
    every = call("academic_search", query="learning", sort_by="date", num_results=10)["papers"]
    best = call("academic_search", query="learning", num_results=1)["papers"]
    newest = call("academic_search", query="learning", sort_by="date", num_results=1)["papers"]
    assert newest == every[:1]
    assert newest[0]["year"] > best[0]["year"]


def test_an_open_file_of_a_repository_is_linked_first(server: Server, call: Call, reply: Reply) -> None:
    reply("openalex", "/works", "openalex-search.json")
    reply("unpaywall", f"/{DEEP}", "unpaywall-open.json")
    answer = call("academic_search", query="deep learning")
    first = next(one for one in answer["papers"] if one["title"] == "Deep learning")
    assert (first["pdfUrl"], first["openAccess"], first["license"]) == ("https://hal.example/deep.pdf", True, "cc-by")
    assert queries(server, "unpaywall") == [{"email": EMAIL}]
    assert answer["checks"]["openAccess"] == {"state": "checked"}


@pytest.mark.parametrize(("answered", "state"), [(1, "partial"), (0, "skipped")])
def test_papers_that_unpaywall_was_not_asked_for_are_said(call: Call, reply: Reply, answered: int, state: str) -> None:
    """It answers for some papers, and then refuses, or refuses all."""
    from .conftest import REPLIES

    def refuse(exchange: Exchange) -> None:
        if answered and exchange.path.startswith(f"/unpaywall/{DEEP}"):
            exchange.answer((REPLIES / "unpaywall-open.json").read_bytes(), "application/json")
        else:
            exchange.answer(b"", "application/json", status=500)

    reply("openalex", "/works", "openalex-search.json")
    reply("crossref", "/works", "crossref-search.json")
    reply("unpaywall", "*", refuse)
    answer = call("academic_search", query="deep learning", provider="crossref")
    check = answer["checks"]["openAccess"]
    assert check["state"] == state
    assert "Unpaywall answered with HTTP 500" in check["why"]
    assert answer["_meta"] == {"cacheable": False}


@pytest.mark.usefixtures("two")
def test_without_an_address_unpaywall_is_left_out_and_that_is_said(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FERRULE_SCHOLAR_EMAIL")
    answer = call("academic_search", query="deep learning", provider="crossref")
    check = answer["checks"]["openAccess"]
    assert check["state"] == "skipped"
    assert "FERRULE_SCHOLAR_EMAIL" in check["why"]
    assert "_meta" not in answer  # nothing is missing that may be there the next time: the cache keeps it


@pytest.mark.slow
def test_a_service_that_hangs_costs_its_own_answer_alone(
    call: Call, reply: Reply, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FERRULE_SCHOLAR_PATIENCE_SECONDS", "1")
    reply("openalex", "/works", "openalex-search.json")
    reply("crossref", "*", Exchange.hang)
    answer = call("academic_search", query="deep learning", seconds=6)
    assert "Deep learning" in titles(answer)
    states = {one["name"]: one for one in answer["providers"]}
    assert (states["openalex"]["state"], states["crossref"]["state"]) == ("answered", "failed")
    assert states["crossref"]["kind"] == "network"
    assert "Crossref gave no answer" in answer["incomplete"]
    assert answer["_meta"] == {"cacheable": False}


def test_papers_of_arxiv_are_found_where_arxiv_is_not_asked(call: Call, reply: Reply) -> None:
    reply("openalex", "/works", "openalex-search.json")
    answer = call("academic_search", query="attention", source="arxiv", provider="openalex")
    assert [one["arxivId"] for one in answer["papers"]] == ["1706.03762"]


def test_nothing_found_is_an_answer_that_says_what_to_try(call: Call, reply: Reply) -> None:
    reply("openalex", "/works", "openalex-empty.json")
    answer = call("academic_search", query="what is the meaning of zyx", provider="openalex", year_from=2020)
    assert (answer["papers"], answer["resultCount"]) == ([], 0)
    hints = answer["hints"]
    assert hints["reason"] == "filters_too_restrictive"
    assert hints["filtersApplied"] == ["year_from"]
    assert hints["suggestedActions"][0] == {"action": "remove_filter", "parameter": "year_from"}
    assert len(hints["suggestedActions"]) == 3


@pytest.mark.usefixtures("two")
def test_what_has_no_effect_is_said(call: Call) -> None:
    answer = call("academic_search", query="learning", sessionId="s", full_text=True, num_results=40)
    assert [one["name"] for one in answer["ignoredParameters"]] == ["sessionId"]
    assert answer["requestedNumResults"] == 40


def test_one_failure_has_its_kind_and_names_the_others(failure: Failure, reply: Reply) -> None:
    reply("openalex", "/works", "openalex-budget.json", status=429, headers={"Retry-After": "43200"})
    error = failure("academic_search", query="deep learning", provider="openalex")
    assert error.code == "RATE_LIMIT"
    assert error.details is not None
    assert error.details["kind"] == "rate_limited"
    assert error.details["retryAfterSeconds"] == 43200
    assert error.details["suggestedAction"] == "try_different_provider"
    assert "crossref" in error.details["alternatives"]


def test_a_service_that_refuses_for_hours_is_not_asked_again(server: Server, failure: Failure, reply: Reply) -> None:
    reply("openalex", "/works", "openalex-budget.json", status=429, headers={"Retry-After": "43200"})
    failure("academic_search", query="deep learning", provider="openalex")
    error = failure("academic_search", query="deep learning", provider="openalex")
    assert "is asked again in" in error.message
    assert len(server.requests) == 1


def test_an_unknown_provider_is_named_with_those_that_there_are(failure: Failure) -> None:
    error = failure("academic_search", query="deep learning", provider="scholarly")
    assert error.code == "INVALID_INPUT"
    assert "crossref" in error.message


def test_a_key_is_sent_to_its_service_and_never_shown(
    server: Server, failure: Failure, reply: Reply, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "oa-secret-0123456789"
    monkeypatch.setenv("OPENALEX_API_KEY", key)
    body = b'{"error": "Unauthorized", "message": "The key oa-secret-0123456789 is not valid."}'
    reply("openalex", "/works", body, status=401, content_type="application/json")
    error = failure("academic_search", query="deep learning", provider="openalex")
    assert queries(server, "openalex")[0]["api_key"] == key
    assert error.code == "AUTH_INVALID"
    assert key not in repr(error) + error.message
    assert key not in unquote(str(error.details))


@pytest.mark.parametrize(
    ("content", "status", "content_type", "headers", "words"),
    [
        (b"<html>Busy</html>", 200, "text/html", {}, "sent something else than JSON"),
        (b'{"results": [{"display_name": "Ti', 200, "application/json", {}, "sent something else than JSON"),
        (
            b'{"results": [{"display_name": "Ti',
            200,
            "application/json",
            {"Content-Length": "400", "Connection": "close"},
            "gave no answer",
        ),
        (b'{"meta": {}}', 200, "application/json", {}, "unexpected shape"),
        (b"", 200, "application/json", {}, "sent something else than JSON"),
        (b"<html>Forbidden</html>", 403, "text/html", {}, "answered with HTTP 403"),
        (b'{"error": "Invalid query", "message": "x is not a field"}', 400, "application/json", {}, "x is not a field"),
        (b"", 500, "text/html", {}, "answered with HTTP 500"),
    ],
)
def test_an_answer_that_cannot_be_used_is_said_and_takes_no_other_with_it(
    call: Call, reply: Reply, content: bytes, status: int, content_type: str, headers: dict[str, str], words: str
) -> None:
    reply("crossref", "/works", "crossref-search.json")
    reply("openalex", "/works", content, status=status, content_type=content_type, headers=headers)
    answer = call("academic_search", query="deep learning")
    assert "Deep learning" in titles(answer)
    (failed,) = (one for one in answer["providers"] if one["name"] == "openalex")
    assert failed["state"] == "failed"
    assert words in failed["error"]


@pytest.mark.usefixtures("two")
def test_another_character_set_is_read(call: Call, reply: Reply) -> None:
    body = '{"meta": {"count": 1}, "results": [{"id": "https://openalex.org/W9", "display_name": "Über Größen"}]}'
    reply("openalex", "/works", body.encode("utf-16"), content_type="application/json; charset=utf-16")
    assert titles(call("academic_search", query="Größen", provider="openalex")) == ["Über Größen"]
