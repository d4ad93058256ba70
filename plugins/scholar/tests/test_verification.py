"""Whether a citation is of a real work, is what it says, and stands."""

from urllib.parse import quote

import pytest

from ferrule_dev.testing import Server

from .conftest import Call, Failure, Reply

pytestmark = pytest.mark.process

DEEP = "10.1038/nature14539"
LANCET = "10.1016/s0140-6736(97)11096-0"
REFERENCE = "LeCun Y, Bengio Y, Hinton G. Deep learning. Nature. 2015;521:436-444."
ARTICLE = f"""<!DOCTYPE html><head><title>Deep learning</title><meta name="citation_doi" content="{DEEP}">
<meta name="citation_title" content="Deep learning"></head><body><main><p>Deep learning allows computational models to
learn representations of data. These methods have improved speech recognition. They have not solved reasoning.</p>
</main></body>"""
PLAIN = "<!DOCTYPE html><head><title>A page about weather</title></head><body><main><p>Rain fell.</p></main></body>"


@pytest.fixture
def crossref(reply: Reply) -> None:
    """Crossref knows two works by their DOIs, and finds both."""
    reply("crossref", f"/works/{DEEP}", "crossref-record.json")
    reply("crossref", f"/works/{quote(LANCET, safe='/')}", "crossref-retracted.json")
    reply("crossref", "/works", "crossref-search.json")


@pytest.mark.usefixtures("crossref")
def test_a_doi_with_its_title_is_confirmed(call: Call) -> None:
    answer = call("verify_citation", citation=f"LeCun, Y. et al. (2015). Deep learning. Nature. https://doi.org/{DEEP}")
    assert (answer["inputType"], answer["detectedDoi"]) == ("doi", DEEP)
    assert (answer["exists"], answer["verificationStatus"], answer["matchConfidence"]) == (True, "confirmed", "high")
    assert (answer["titleMatch"], answer["authorMatch"], answer["yearMatch"]) == ("match", "match", "match")
    assert answer["matchedRecord"]["title"] == "Deep learning"
    assert "authenticityCaveat" not in answer
    assert answer["claimCheckSkipped"] is True


@pytest.mark.usefixtures("crossref")
def test_a_bare_doi_is_confirmed_with_a_caveat(call: Call) -> None:
    answer = call("verify_citation", citation=DEEP)
    assert (answer["verificationStatus"], answer["titleMatch"]) == ("confirmed", "not_checked")
    assert "identifier alone" in answer["authenticityCaveat"]


@pytest.mark.usefixtures("crossref")
@pytest.mark.parametrize(
    "words", ["Deep learning. Nature, 2015.", "Deep learning. Nat Methods 521 (2015).", "“Deep learning”, Nature 521"]
)
def test_a_reference_that_begins_with_the_title_names_no_author(call: Call, words: str) -> None:
    answer = call("verify_citation", citation=f"{words} doi:{DEEP}")
    assert (answer["verificationStatus"], answer["authorMatch"]) == ("confirmed", "not_checked")


def test_an_address_keeps_the_brackets_that_are_its_own(server: Server, call: Call, reply: Reply) -> None:
    reply("pages", "/Transformer_(deep_learning)", PLAIN.encode())
    for end in ("", ".", ")."):
        answer = call("verify_citation", citation=f"{server.url}/pages/Transformer_(deep_learning){end}")
        assert (answer["verificationStatus"], answer["httpStatus"]) == ("confirmed", 200)


@pytest.mark.usefixtures("crossref")
@pytest.mark.parametrize(
    ("citation", "which"),
    [
        (f"Smith, A. (2015). Convolutional networks for satellites. doi:{DEEP}", "titleMatch"),
        (f"Zimmermann, Q. (2015). Deep learning. Nature. doi:{DEEP}", "authorMatch"),
        (f"LeCun, Y. (1987). Deep learning. Nature. doi:{DEEP}", "yearMatch"),
    ],
)
def test_a_doi_of_another_work_is_no_confirmation(call: Call, citation: str, which: str) -> None:
    answer = call("verify_citation", citation=citation)
    assert (answer["exists"], answer["verificationStatus"]) == (True, "uncertain")
    assert answer[which] == "mismatch"
    assert "another title, author or year" in answer["authenticityCaveat"]


@pytest.mark.usefixtures("crossref")
def test_a_retracted_work_is_said_to_be(call: Call) -> None:
    answer = call("verify_citation", citation=LANCET)
    assert answer["retractionStatus"]["kind"] == "retraction"
    assert answer["retractionStatus"]["source"] == "retraction-watch"
    assert answer["provenance"][-1] == {"name": "retractions", "state": "checked"}


def test_a_retraction_that_could_not_be_looked_for_is_in_the_provenance(call: Call, reply: Reply) -> None:
    reply("openalex", f"/works/doi:{DEEP}", "openalex-record.json")
    answer = call("verify_citation", citation=DEEP)
    assert answer["provenance"][-1]["name"] == "retractions"
    assert answer["provenance"][-1]["state"] == "skipped"
    assert "Crossref" in answer["provenance"][-1]["why"]
    assert answer["_meta"] == {"cacheable": False}


def test_a_doi_that_is_registered_and_has_no_record_exists(call: Call, reply: Reply) -> None:
    reply("doi", "/api/handles/10.5281/zenodo.1", b'{"responseCode": 1, "handle": "10.5281/zenodo.1"}',
          content_type="application/json")  # fmt: skip
    answer = call("verify_citation", citation="10.5281/zenodo.1")
    assert (answer["exists"], answer["verificationStatus"]) == (True, "uncertain")
    assert answer["provenance"][-1] == {"name": "doi.org", "state": "answered", "registered": True}


def test_a_doi_that_nobody_registered_is_not_found(call: Call, reply: Reply) -> None:
    body = b'{"responseCode": 100, "handle": "10.1000/none"}'
    reply("doi", "/api/handles/10.1000/none", body, status=404, content_type="application/json")
    answer = call("verify_citation", citation="10.1000/none")
    assert (answer["exists"], answer["verificationStatus"]) == (False, "not_found")


def test_a_network_that_is_down_makes_no_work_unknown(failure: Failure) -> None:
    for citation in (DEEP, REFERENCE):
        error = failure("verify_citation", citation=citation)
        assert error.code == "NETWORK_ERROR"
        assert error.details is not None
        assert error.details["retryable"] is True


@pytest.mark.usefixtures("crossref")
def test_a_reference_in_words_is_found_and_compared(call: Call) -> None:
    answer = call("verify_citation", citation=REFERENCE)
    assert answer["inputType"] == "reference"
    assert (answer["verificationStatus"], answer["matchConfidence"]) == ("confirmed", "high")
    assert answer["matchedRecord"]["doi"] == DEEP


@pytest.mark.usefixtures("crossref")
def test_a_reference_with_another_author_and_year_is_only_a_possible_match(call: Call) -> None:
    answer = call("verify_citation", citation="Zimmermann Q. Deep learning. Nature. 1987.")
    assert (answer["exists"], answer["verificationStatus"], answer["matchConfidence"]) == (False, "uncertain", "medium")
    assert answer["possibleMatch"]["doi"] == DEEP
    assert "matchedRecord" not in answer


def test_an_invented_reference_is_not_found_where_all_services_answer(call: Call, reply: Reply) -> None:
    reply("crossref", "/works", "crossref-empty.json")
    reply("openalex", "/works", "openalex-empty.json")
    reply("arxiv", "/query", b'<feed xmlns="http://www.w3.org/2005/Atom"></feed>')
    reply("semantic_scholar", "/paper/search", b'{"total": 0, "data": []}')
    reply("pubmed", "/esearch.fcgi", "pubmed-none.json")
    reply("europe_pmc", "/search", b'{"hitCount": 0, "resultList": {"result": []}}')
    answer = call("verify_citation", citation="Nemo, N. (2031). The art of starting carts.")
    assert (answer["exists"], answer["verificationStatus"], answer["matchConfidence"]) == (False, "not_found", "none")
    assert "no proof" in answer["authenticityCaveat"]


def test_where_some_service_is_missing_nothing_found_is_uncertain(call: Call, reply: Reply) -> None:
    reply("crossref", "/works", "crossref-empty.json")
    answer = call("verify_citation", citation="Nemo, N. (2031). The art of starting carts.")
    assert answer["verificationStatus"] == "uncertain"


@pytest.mark.usefixtures("crossref")
def test_an_address_whose_page_names_a_doi_is_checked_by_it(server: Server, call: Call, reply: Reply) -> None:
    reply("pages", "/deep", ARTICLE.encode())
    answer = call("verify_citation", citation=f"{server.url}/pages/deep")
    assert (answer["inputType"], answer["detectedDoi"], answer["httpStatus"]) == ("url", DEEP, 200)
    assert (answer["verificationStatus"], answer["matchConfidence"]) == ("confirmed", "high")


def test_an_address_of_another_page_is_confirmed_as_a_page(server: Server, call: Call, reply: Reply) -> None:
    reply("pages", "/weather", PLAIN.encode())
    answer = call("verify_citation", citation=f"{server.url}/pages/weather")
    assert (answer["verificationStatus"], answer["httpStatus"]) == ("confirmed", 200)
    assert (answer["matchedRecord"]["source"], answer["matchedRecord"]["title"]) == ("page", "A page about weather")


@pytest.mark.parametrize(("status", "verdict"), [(404, "not_found"), (403, "uncertain"), (503, "uncertain")])
def test_a_page_that_is_gone_is_not_one_that_refuses(
    server: Server, call: Call, reply: Reply, status: int, verdict: str
) -> None:
    reply("pages", "/gone", b"<p>No.</p>", status=status)
    copy = b'{"archived_snapshots": {"closest": {"available": true, "url": "https://web.archive.example/1/gone"}}}'
    reply("archive", "/wayback/available", copy, content_type="application/json")
    answer = call("verify_citation", citation=f"{server.url}/pages/gone")
    assert (answer["exists"], answer["verificationStatus"], answer["httpStatus"]) == (False, verdict, status)
    assert answer["archivedUrl"] == "https://web.archive.example/1/gone"


@pytest.mark.usefixtures("crossref")
@pytest.mark.parametrize(
    ("claim", "support", "has_contrast"),
    [
        ("Deep learning has improved speech recognition", "addressed", False),
        ("These methods have solved reasoning", "addressed", True),
        ("Speech therapy for parrots in captivity", "partially_addressed", False),
        ("Volcanoes erupt", "not_addressed", False),
    ],
)
def test_a_claim_is_held_against_the_text(
    server: Server, call: Call, reply: Reply, claim: str, support: str, has_contrast: bool
) -> None:
    reply("pages", "/deep", ARTICLE.encode())
    answer = call("verify_citation", citation=f"{server.url}/pages/deep", claim=claim)
    assert answer["claimSupport"] == support
    assert ("claimEvidence" in answer) == (support != "not_addressed")
    assert answer.get("contrastSignal", False) or not has_contrast
    assert "sparsityNote" in answer
    assert answer["claim"] == claim


def test_a_claim_about_a_work_that_is_not_found_cannot_be_checked(call: Call, reply: Reply) -> None:
    reply("crossref", "/works", "crossref-empty.json")
    answer = call("verify_citation", citation="Nemo, N. (2031). The art of starting carts.", claim="Carts start")
    assert answer["claimSupport"] == "source_unavailable"


def test_an_address_that_may_not_be_fetched_is_an_error(failure: Failure, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FERRULE_FETCH_ALLOW")
    assert failure("verify_citation", citation="http://127.0.0.1:1/").code == "INVALID_URL"
