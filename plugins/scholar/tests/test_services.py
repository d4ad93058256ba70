"""What each service is asked, and what is made of its documented replies, good and bad."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ferrule_dev.testing import Environment, Server
from ferrule_testkit.installation.hidden_distributions import hide, offering_commands, offering_tools

from .conftest import EMAIL, Call, Failure, Reply, queries

pytestmark = pytest.mark.process

NCBI_KEY = "ncbi-secret-0123456789"
BELL = r"\u0007\u001b"  # as JSON has it


def search(call: Call, provider: str, **arguments: Any) -> list[dict[str, Any]]:
    answer = call("academic_search", **{"query": "deep learning", "num_results": 10, **arguments}, provider=provider)
    papers: list[dict[str, Any]] = answer["papers"]
    return papers


def test_arxiv_is_asked_for_all_words_and_its_feed_is_read(server: Server, call: Call, reply: Reply) -> None:
    reply("arxiv", "/query", "arxiv-search.xml")
    papers = search(call, "arxiv", query="The attention is: all you need", author="Noam Shazeer", year_from=2017)
    (asked,) = queries(server, "arxiv")
    assert asked["search_query"] == (
        'all:attention AND all:all AND all:you AND all:need AND au:"noam shazeer" AND '
        "submittedDate:[201701010000 TO 299912312359]"
    )
    (paper,) = papers
    assert paper["title"] == "Attention Is All You Need"
    assert (paper["arxivId"], paper["url"]) == ("1706.03762", "https://arxiv.org/abs/1706.03762")
    assert paper["pdfUrl"] == "https://arxiv.org/pdf/1706.03762"
    assert (paper["date"], paper["year"], paper["openAccess"]) == ("2017-06-12", 2017, True)
    assert paper["abstract"].startswith("The dominant sequence transduction models are based on complex recurrent")


def test_a_paper_of_arxiv_that_was_published_has_its_doi_and_journal(call: Call, reply: Reply) -> None:
    reply("arxiv", "/query", "arxiv-search.xml")
    (paper,) = search(call, "arxiv", author="maldacena")
    assert (paper["doi"], paper["arxivId"]) == ("10.1023/a:1026654312961", "hep-th/9711200")
    assert paper["journal"] == "Adv.Theor.Math.Phys.2:231-252,1998"


def test_an_error_of_arxiv_is_no_paper(failure: Failure, reply: Reply) -> None:
    reply("arxiv", "/query", "arxiv-error.xml")
    assert (
        "arXiv refused the request: incorrect id format"
        in failure("academic_search", query="deep learning", provider="arxiv").message
    )


@pytest.mark.parametrize(
    "content",
    [
        "entities.xml",
        b"<html><p>Rate exceeded.",
        b"<feed><entry>",
        b"",
        b"\xff\xfe",
    ],
)
def test_xml_that_is_not_whole_or_not_safe_is_refused(failure: Failure, reply: Reply, content: str | bytes) -> None:
    reply("arxiv", "/query", content, content_type="application/atom+xml")
    error = failure("academic_search", query="deep learning", provider="arxiv")
    assert "sent something else than XML" in error.message
    assert "root:" not in error.message


def test_xml_in_another_character_set_is_read(call: Call, reply: Reply) -> None:
    feed = (
        '<?xml version="1.0" encoding="ISO-8859-1"?><feed xmlns="http://www.w3.org/2005/Atom"><entry>'
        "<id>http://arxiv.org/abs/2001.00001v1</id><title>Über Größen</title></entry></feed>"
    )
    reply("arxiv", "/query", feed.encode("iso-8859-1"), content_type="application/atom+xml")
    assert [one["title"] for one in search(call, "arxiv")] == ["Über Größen"]


def test_semantic_scholar_is_asked_with_its_filters_and_read(
    server: Server, call: Call, reply: Reply, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEMANTIC_SCHOLAR_API_KEY", "s2-secret-0123456789")
    reply("semantic_scholar", "/paper/search", "semantic-search.json")
    papers = search(call, "semanticscholar", query="self-attention", year_to=2018, min_citations=9)
    (asked,) = queries(server, "semantic_scholar")
    assert (asked["query"], asked["year"], asked["minCitationCount"]) == ("self attention", "-2018", "9")
    assert server.requests[0].headers["x-api-key"] == "s2-secret-0123456789"
    attention = papers[0]
    assert (attention["arxivId"], attention["citationCount"]) == ("1706.03762", 120000)
    assert attention["tldr"].startswith("A new simple network architecture")
    assert "pdfUrl" not in attention
    assert papers[1]["pmid"] == "26017442"


def test_a_refusal_without_a_time_is_repeated_once(server: Server, call: Call, reply: Reply) -> None:
    from ferrule_dev.testing import Exchange

    from .conftest import REPLIES

    def once(exchange: Exchange) -> None:
        is_first = len(server.requests) == 1
        name, status = ("semantic-busy.json", 429) if is_first else ("semantic-search.json", 200)
        exchange.answer((REPLIES / name).read_bytes(), "application/json", status=status)

    reply("semantic_scholar", "/paper/search", once)
    assert len(search(call, "semanticscholar")) == 2
    assert len(queries(server, "semantic_scholar")) == 2


def test_pubmed_is_asked_in_two_steps_and_read(server: Server, call: Call, reply: Reply) -> None:
    reply("pubmed", "/esearch.fcgi", "pubmed-search.json")
    reply("pubmed", "/efetch.fcgi", "pubmed-records.xml")
    papers = search(call, "pubmed", year_from=1990, venue="Lancet")
    searched, fetched = queries(server, "pubmed")
    assert (searched["tool"], searched["email"]) == ("ferrule-scholar", EMAIL)
    assert searched["term"] == '(deep learning) AND "Lancet"[Journal]'
    assert (searched["mindate"], searched["maxdate"], searched["datetype"]) == ("1990", "3000", "pdat")
    assert fetched["id"] == "26017442,9500320"
    (paper,) = papers
    assert paper["title"].endswith("pervasive developmental disorder in children")
    assert (paper["pmid"], paper["doi"]) == ("9500320", "10.1016/s0140-6736(97)11096-0")
    assert (paper["authors"], paper["date"]) == (["A J Wakefield", "The Study Group"], "1998-02-28")
    assert paper["abstract"] == "We investigated a consecutive series. 12 children."
    assert paper["retractionStatus"] == {"retracted": True, "kind": "retraction"}


def test_pubmed_without_a_hit_is_asked_once(server: Server, call: Call, reply: Reply) -> None:
    reply("pubmed", "/esearch.fcgi", "pubmed-none.json")
    assert search(call, "pubmed") == []
    assert len(queries(server, "pubmed")) == 1


@pytest.mark.parametrize(
    ("name", "status", "words"),
    [("pubmed-error.json", 200, "Invalid db name"), ("pubmed-rate.json", 429, "takes no more requests for now")],
)
def test_an_error_of_pubmed_is_one_whatever_its_status(
    failure: Failure, reply: Reply, name: str, status: int, words: str
) -> None:
    reply("pubmed", "/esearch.fcgi", name, status=status)
    assert words in failure("academic_search", query="deep learning", provider="pubmed").message


@pytest.mark.parametrize("shape", ['{{"esearchresult": {{"ERROR": "{words}"}}}}', '{{"error": "{words}"}}'])
def test_what_pubmed_says_of_a_request_is_one_line_without_any_part_of_the_key(
    failure: Failure, reply: Reply, monkeypatch: pytest.MonkeyPatch, shape: str
) -> None:
    """The key stands where the text is cut, so that a part of it would be left if it was looked for afterwards."""
    monkeypatch.setenv("NCBI_API_KEY", NCBI_KEY)
    words = f"no key{BELL} {'x' * 175} {NCBI_KEY} of {EMAIL}"
    reply("pubmed", "/esearch.fcgi", shape.format(words=words).encode(), content_type="application/json")
    message = failure("academic_search", query="deep learning", provider="pubmed").message
    assert message.startswith("PubMed refused the request: no key xxx")
    assert message.isprintable()
    assert NCBI_KEY[:6] not in message
    assert "[redacted]" in message


def test_what_arxiv_says_of_a_request_is_one_line_without_the_contact(failure: Failure, reply: Reply) -> None:
    feed = f"""<feed xmlns="http://www.w3.org/2005/Atom"><entry><title>Error</title>
      <summary>no\u202e such {EMAIL} user\u200b of {EMAIL.replace("@", "%40")}.</summary></entry></feed>"""
    reply("arxiv", "/query", feed.encode(), content_type="application/atom+xml")
    error = failure("academic_search", query="deep learning", provider="arxiv")
    assert error.message == "arXiv refused the request: no such [redacted] user of [redacted]."


def test_europe_pmc_is_asked_with_its_filters_and_read(server: Server, call: Call, reply: Reply) -> None:
    reply("europe_pmc", "/search", "europepmc-search.json")
    papers = search(call, "europepmc", open_access=True, year_from=2019, author='van "der" Berg')
    (asked,) = queries(server, "europe_pmc")
    assert asked["query"] == ('(deep learning) AND AUTH:"van der Berg" AND PUB_YEAR:[2019 TO 2999] AND OPEN_ACCESS:y')
    assert asked["resultType"] == "core"
    (paper,) = papers
    assert paper["authors"] == ["A van der Berg", "B C Ek"]
    assert paper["pdfUrl"] == "https://europepmc.org/articles/PPR100001?pdf=render"


def test_all_six_are_asked_at_once_and_what_they_have_in_common_comes_first(call: Call, reply: Reply) -> None:
    reply("openalex", "/works", "openalex-search.json")
    reply("crossref", "/works", "crossref-search.json")
    reply("arxiv", "/query", "arxiv-search.xml")
    reply("semantic_scholar", "/paper/search", "semantic-search.json")
    reply("pubmed", "/esearch.fcgi", "pubmed-search.json")
    reply("pubmed", "/efetch.fcgi", "pubmed-records.xml")
    reply("europe_pmc", "/search", "europepmc-search.json")
    answer = call("academic_search", query="deep learning", num_results=10)
    assert {one["name"]: one["state"] for one in answer["providers"]} == dict.fromkeys(
        ("arxiv", "crossref", "europepmc", "openalex", "pubmed", "semanticscholar"), "answered"
    )
    first, second = answer["papers"][:2]
    assert first["doi"] == "10.1038/nature14539"
    assert first["sources"] == ["crossref", "pubmed", "europepmc", "openalex", "semanticscholar"]
    assert second["arxivId"] == "1706.03762"
    assert second["sources"] == ["openalex", "arxiv", "semanticscholar"]
    assert "incomplete" not in answer


def test_calls_of_one_service_take_turns(server: Server, call: Call, failure: Failure, reply: Reply) -> None:
    """The second call within three seconds waits for its turn, and one without that much time hears when it is."""
    reply("arxiv", "/query", "arxiv-search.xml")
    search(call, "arxiv")
    error = failure("academic_search", query="deep learning", provider="arxiv", seconds=3.5)
    assert error.code == "RATE_LIMIT"
    assert "the turn of this call would come in" in error.message
    assert len(queries(server, "arxiv")) == 1


@pytest.mark.parametrize("tool", ["academic_search", "citation_graph", "verify_citation", "format_bibliography"])
def test_no_tool_needs_a_key(tool: str) -> None:
    from ferrule.installed import find_configured

    assert find_configured([tool]) == {tool: True}


def test_a_doctor_that_finds_no_key_says_that_the_tool_works_without_it(
    ferrule_environment: Environment, tmp_path: Path
) -> None:
    hide(tmp_path, (offering_tools() | offering_commands()) - {"ferrule-scholar"})
    command = [Path(sys.executable).parent / "ferrule", "doctor", "--json"]
    done = subprocess.run(
        command,
        env={**os.environ, **ferrule_environment.variables, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        check=False,
    )
    findings = [one for one in json.loads(done.stdout)["findings"] if one["subject"] == "academic_search"]
    assert {one["id"] for one in findings} == {"credential-missing"}
    assert all(one["message"].endswith("The tool works without it.") for one in findings)
