"""The tools of papers with a session of research: what they add to it, and a bibliography of what it has."""

from typing import Any

import pytest

from ferrule import ToolError
from ferrule_research.sessions import Source, record_sources

from .conftest import Call, Reply

pytestmark = pytest.mark.process

DEEP = "10.1038/nature14539"


@pytest.fixture
def session(call: Call) -> str:
    step = call("sequential_search", searchStep="Find papers.", stepNumber=1, nextStepNeeded=True)
    return str(step["sessionId"])


def sources(call: Call, session: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = call("get_research_session", sessionId=session)["sources"]
    return found


def test_papers_that_were_found_are_sources_of_the_session(call: Call, reply: Reply, session: str) -> None:
    reply("openalex", "/works", "openalex-search.json")
    answer = call("academic_search", query="deep learning", num_results=2, provider="openalex", sessionId=session)
    assert "sessionId" not in [one["name"] for one in answer.get("ignoredParameters", [])]
    found = sources(call, session)
    assert [one["url"] for one in found] == [one["url"] for one in answer["papers"]]
    (deep,) = (one for one in found if one.get("doi") == DEEP)
    assert (deep["relevance"], deep["title"], deep["foundInStep"]) == ("academic", "Deep learning", 1)
    assert deep["author"] == "LeCun, Yann; Bengio, Yoshua; Hinton, Geoffrey E."


def test_the_paper_and_its_citations_are_sources_of_the_session(call: Call, reply: Reply, session: str) -> None:
    reply("openalex", "*", "openalex-record.json")
    reply("openalex", "/works", "openalex-search.json")
    answer = call("citation_graph", paper=DEEP, provider="openalex", direction="cited_by", sessionId=session)
    assert answer["citedByCount"] > 0
    assert {one["url"] for one in sources(call, session)} == {
        answer["seed"]["url"],
        *(one["url"] for one in answer["citedBy"]),
    }


def test_a_bibliography_is_written_of_what_a_session_has(call: Call, reply: Reply, session: str) -> None:
    reply("openalex", "/works", "openalex-search.json")
    call("academic_search", query="deep learning", num_results=3, provider="openalex", sessionId=session)
    alone = call("format_bibliography", sessionId=session, style="bibtex")
    assert alone["entryCount"] == len(sources(call, session))
    assert "author = {LeCun, Yann and Bengio, Yoshua and Hinton, Geoffrey E.}" in alone["bibliography"]
    named = {"url": "https://example.com/a", "title": "A page"}
    both = call("format_bibliography", sessionId=session, sources=[named, {"doi": DEEP, "title": "Twice"}])
    assert both["entryCount"] == alone["entryCount"] + 1
    assert "A page" in both["bibliography"]
    assert "Twice" not in both["bibliography"]


@pytest.mark.parametrize("doi", ["10.5555/fake", "10.1000/none"])
def test_a_page_that_names_a_doi_which_is_none_costs_no_other_source_its_entry(
    call: Call, reply: Reply, session: str, doi: str
) -> None:
    reply("crossref", "/works", "crossref-empty.json")
    page: Source = {"url": "https://page.example/", "doi": doi, "relevance": "scraped"}
    assert record_sources(session, [page, {"url": "https://good.example/", "title": "Good"}]) == ""
    answer = call("format_bibliography", sessionId=session, style="ris")
    assert answer["entryCount"] == 2
    assert "TI  - Good" in answer["bibliography"]


def test_a_session_that_is_not_there_is_said(call: Call, reply: Reply) -> None:
    reply("openalex", "/works", "openalex-search.json")
    answer = call("academic_search", query="deep learning", provider="openalex", sessionId="nonsense")
    assert [one["name"] for one in answer["ignoredParameters"]] == ["sessionId"]
    assert answer["_meta"] == {"cacheable": False}
    with pytest.raises(ToolError) as caught:
        call("format_bibliography", sessionId="nonsense")
    assert caught.value.code == "SESSION_NOT_FOUND"
