"""One hop of citations: by which service, from which paper, and what comes of each direction."""

import threading
import time
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from ferrule_dev.testing import Exchange, Server
from ferrule_scholar.asking import client
from ferrule_testkit import PATIENCE_SECONDS

from .conftest import REPLIES, Call, Failure, Reply, queries

pytestmark = pytest.mark.process

DEEP = "10.1038/nature14539"
OF_S2 = "/paper/a4cec122a08216fe8a3bc19b22e78fbaea096256"


@pytest.fixture(autouse=True)
def _without_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call goes on at once where it would wait a second for its next turn at a service."""
    clock = SimpleNamespace(monotonic=time.monotonic, time=time.time, sleep=lambda _seconds: None)
    monkeypatch.setattr(client, "time", clock)


@pytest.fixture
def semantic(reply: Reply) -> None:
    """Semantic Scholar knows the paper, and Crossref its citations."""
    reply("semantic_scholar", f"/paper/DOI:{DEEP}", "semantic-record.json")
    reply("semantic_scholar", f"{OF_S2}/citations", "semantic-citations.json")
    reply("semantic_scholar", f"{OF_S2}/references", "semantic-references.json")
    reply("crossref", "/works", "crossref-empty.json")


@pytest.fixture
def openalex(reply: Reply) -> None:
    """OpenAlex knows the paper."""

    def works(exchange: Exchange) -> None:
        from .conftest import REPLIES

        name = "openalex-citing.json" if "cites%3A" in exchange.path else "openalex-references.json"
        name = "openalex-search.json" if "search=" in exchange.path else name
        exchange.answer((REPLIES / name).read_bytes(), "application/json")

    reply("openalex", f"/works/doi:{DEEP}", "openalex-record.json")
    reply("openalex", "/works/W2919115771", "openalex-record.json")
    reply("openalex", "/works", works)
    reply("crossref", "/works", "crossref-empty.json")


@pytest.mark.usefixtures("semantic")
def test_both_directions_come_with_what_the_service_says_of_each_citation(call: Call) -> None:
    answer = call("citation_graph", paper=f"https://doi.org/{DEEP}")
    assert (answer["provider"], answer["direction"]) == ("semanticscholar", "both")
    assert answer["seed"]["doi"] == DEEP
    first, second = answer["citedBy"]
    assert (first["title"], first["isInfluential"], first["citationIntents"]) == (
        "Attention is All you Need", True, ["methodology"],
    )  # fmt: skip
    assert second["isInfluential"] is False
    assert (answer["citedByCount"], answer["citedByTotal"]) == (2, 55000)
    assert [one["title"] for one in answer["references"]] == ["Long Short-Term Memory"]
    assert answer["referencesCount"] == 1


def test_both_directions_are_asked_at_the_same_time_and_retractions_of_both_at_once(
    server: Server, call: Call, reply: Reply
) -> None:
    """Each direction is answered only when the other one has been asked for."""
    both = threading.Barrier(2)

    def answer_with(name: str) -> Callable[[Exchange], None]:
        def answer(exchange: Exchange) -> None:
            both.wait(PATIENCE_SECONDS)
            exchange.answer((REPLIES / name).read_bytes(), "application/json")

        return answer

    reply("semantic_scholar", f"/paper/DOI:{DEEP}", "semantic-record.json")
    reply("semantic_scholar", f"{OF_S2}/citations", answer_with("semantic-citations.json"))
    reply("semantic_scholar", f"{OF_S2}/references", answer_with("semantic-references.json"))
    reply("crossref", "/works", "crossref-empty.json")
    answer = call("citation_graph", paper=DEEP)
    assert (answer["citedByCount"], answer["referencesCount"]) == (2, 1)
    assert "incomplete" not in answer
    assert len(queries(server, "crossref")) == 1


@pytest.mark.usefixtures("semantic")
def test_one_direction_costs_no_request_for_the_other(server: Server, call: Call) -> None:
    answer = call("citation_graph", paper=DEEP, direction="references", num_results=40)
    assert "citedBy" not in answer
    assert answer["requestedNumResults"] == 40
    assert not [one for one in server.requests if "/citations" in one.target]
    assert queries(server, "semantic_scholar")[1]["limit"] == "25"


@pytest.mark.usefixtures("semantic")
def test_influential_citations_alone(call: Call) -> None:
    answer = call("citation_graph", paper=DEEP, direction="cited_by", influential_only=True)
    assert [one["title"] for one in answer["citedBy"]] == ["Attention is All you Need"]


def test_a_retraction_of_a_cited_paper_is_said(call: Call, reply: Reply) -> None:
    reply("semantic_scholar", f"/paper/DOI:{DEEP}", "semantic-record.json")
    cited = b"""{"data": [{"intents": [], "isInfluential": false, "citedPaper": {"paperId": "w", "title": "Ileal",
        "externalIds": {"DOI": "10.1016/S0140-6736(97)11096-0"}, "authors": []}}]}"""
    reply("semantic_scholar", f"{OF_S2}/references", cited, content_type="application/json")
    reply("crossref", "/works", "crossref-by-doi.json")
    answer = call("citation_graph", paper=DEEP, direction="references")
    assert answer["references"][0]["retractionStatus"]["kind"] == "retraction"
    assert answer["checks"] == {"retractions": {"state": "checked"}}
    assert "_meta" not in answer


def test_retractions_that_could_not_be_looked_for_are_said_and_the_answer_is_not_kept(call: Call, reply: Reply) -> None:
    reply("semantic_scholar", f"/paper/DOI:{DEEP}", "semantic-record.json")
    reply("semantic_scholar", f"{OF_S2}/references", "semantic-references.json")
    reply("semantic_scholar", f"{OF_S2}/citations", "semantic-citations.json")
    reply("crossref", "/works", b"", status=429, headers={"Retry-After": "3600"})
    answer = call("citation_graph", paper=DEEP)
    assert answer["referencesCount"] == 1
    assert answer["checks"]["retractions"]["state"] == "skipped"
    assert "Crossref" in answer["checks"]["retractions"]["why"]
    assert answer["_meta"] == {"cacheable": False}


@pytest.mark.usefixtures("openalex")
def test_a_paper_that_the_first_service_does_not_know_is_asked_of_the_next(call: Call, reply: Reply) -> None:
    reply("semantic_scholar", f"/paper/DOI:{DEEP}", "semantic-missing.json", status=404)
    answer = call("citation_graph", paper=DEEP)
    assert answer["provider"] == "openalex"
    assert answer["citedByTotal"] == 60000
    assert [one["year"] for one in answer["references"]] == [1998, 1997]
    assert (answer["referencesCount"], answer["referencesTotal"]) == (2, 3)
    assert "incomplete" not in answer


@pytest.mark.usefixtures("openalex")
def test_influence_has_no_effect_where_it_is_not_known_and_that_is_said(call: Call) -> None:
    answer = call("citation_graph", paper=DEEP, provider="openalex", influential_only=True, sessionId="s")
    assert answer["citedByCount"] == 1
    assert [one["name"] for one in answer["ignoredParameters"]] == ["influential_only", "sessionId"]
    assert answer["_meta"] == {"cacheable": False}


@pytest.mark.usefixtures("openalex")
def test_a_title_is_found_by_a_search_and_has_to_be_the_one(
    server: Server, call: Call, failure: Failure, reply: Reply
) -> None:
    answer = call("citation_graph", paper="Deep learning", provider="openalex", direction="cited_by")
    assert answer["seed"]["doi"] == DEEP
    assert not [one for one in server.requests if "/works/title" in one.target]
    error = failure("citation_graph", paper="Shallow teaching", provider="openalex")
    assert error.code == "NOT_FOUND"
    assert "academic_search" in (error.hint or "")


def test_one_direction_that_fails_leaves_the_other(call: Call, reply: Reply) -> None:
    reply("semantic_scholar", f"/paper/DOI:{DEEP}", "semantic-record.json")
    reply("semantic_scholar", f"{OF_S2}/citations", b"", status=500)
    reply("semantic_scholar", f"{OF_S2}/references", "semantic-references.json")
    reply("crossref", "/works", "crossref-empty.json")
    answer = call("citation_graph", paper=DEEP)
    assert (answer["citedBy"], answer["referencesCount"]) == ([], 1)
    assert "HTTP 500" in answer["incomplete"]
    assert answer["_meta"] == {"cacheable": False}


@pytest.mark.slow
def test_services_that_never_answer_leave_time_for_the_next_one_and_for_the_directions(
    call: Call, reply: Reply
) -> None:
    for service in ("semantic_scholar", "openalex"):
        reply(service, "*", lambda exchange: exchange.hang())
    reply("europe_pmc", "/search", "europepmc-search.json")
    reply("europe_pmc", "/MED/26017442/citations", "europepmc-citations.json")
    reply("europe_pmc", "/MED/26017442/references", "europepmc-references.json")
    reply("crossref", "/works", "crossref-empty.json")
    answer = call("citation_graph", paper=DEEP, seconds=12)
    assert (answer["provider"], answer["citedByCount"]) == ("europepmc", 1)
    assert "Semantic Scholar gave no answer" in answer["incomplete"]


def test_europe_pmc_and_pubmed_know_citations_as_well(call: Call, reply: Reply) -> None:
    reply("europe_pmc", "/search", "europepmc-search.json")
    reply("europe_pmc", "/MED/26017442/citations", "europepmc-citations.json")
    reply("europe_pmc", "/MED/26017442/references", "europepmc-references.json")
    reply("crossref", "/works", "crossref-empty.json")
    answer = call("citation_graph", paper="PMID: 26017442", provider="europepmc")
    assert answer["citedBy"][0]["title"] == "What learning costs"
    assert (answer["citedByTotal"], answer["referencesTotal"]) == (9000, 103)
    reply("pubmed", "/efetch.fcgi", "pubmed-records.xml")
    reply("pubmed", "/elink.fcgi", "pubmed-links.json")
    answer = call("citation_graph", paper="26017442", provider="pubmed", direction="cited_by")
    assert (answer["citedByCount"], answer["citedByTotal"]) == (2, 2)


def test_a_provider_without_citations_is_named_with_those_that_have_them(failure: Failure) -> None:
    error = failure("citation_graph", paper=DEEP, provider="arxiv")
    assert error.details is not None
    assert error.details["alternatives"] == ["semanticscholar", "openalex", "europepmc", "pubmed"]


def test_where_nobody_can_be_asked_the_error_is_no_missing_paper(failure: Failure) -> None:
    error = failure("citation_graph", paper=DEEP)
    assert error.code == "NETWORK_ERROR"
    assert error.details is not None
    assert error.details["retryable"] is True
