"""What is read of single fields of a service's records, and of its words of refusal."""

import json
from typing import Any

import pytest

from ferrule_scholar.scholars.openalex import read_work

from .conftest import EMAIL, Call, Failure, Reply

pytestmark = pytest.mark.process


@pytest.mark.parametrize(
    ("written", "title"),
    [
        ("[18F]FDG PET imaging of tumours.", "[18F]FDG PET imaging of tumours"),
        ("Effects of X [corrected].", "Effects of X [corrected]"),
        ("[18F]FDG and [11C]choline", "[18F]FDG and [11C]choline"),
        ("[A] and [B]", "[A] and [B]"),
        ("[A translated title].", "A translated title"),
        ("[Imaging with [18F]FDG].", "Imaging with [18F]FDG"),
    ],
)
def test_a_title_of_pubmed_keeps_the_brackets_that_are_its_own(
    call: Call, reply: Reply, written: str, title: str
) -> None:
    article = f"<Article><ArticleTitle>{written}</ArticleTitle></Article>"
    record = f"<PubmedArticle><MedlineCitation><PMID>26017442</PMID>{article}</MedlineCitation></PubmedArticle>"
    reply("pubmed", "/esearch.fcgi", "pubmed-search.json")
    body = f"<PubmedArticleSet>{record}</PubmedArticleSet>".encode()
    reply("pubmed", "/efetch.fcgi", body, content_type="text/xml")
    papers = call("academic_search", query="imaging", provider="pubmed")["papers"]
    assert [one["title"] for one in papers] == [title]


@pytest.mark.parametrize("end", ["5815332", "PMC5815332", "pmc5815332/"])
def test_an_id_of_pubmed_central_has_its_letters(end: str) -> None:
    record: dict[str, Any] = {"display_name": "T", "ids": {"pmcid": f"https://www.ncbi.nlm.nih.gov/pmc/articles/{end}"}}
    assert read_work(record).pmcid == "PMC5815332"


@pytest.mark.parametrize("length", [170, 180, 195])
def test_no_part_of_a_key_or_a_contact_stands_where_the_words_of_a_service_are_cut(
    failure: Failure, reply: Reply, monkeypatch: pytest.MonkeyPatch, length: int
) -> None:
    key = "oa-secret-0123456789-abcdefghij-0123456789"
    monkeypatch.setenv("OPENALEX_API_KEY", key)
    for secret in (key, EMAIL):
        body = json.dumps({"message": "x" * length + " " + secret}).encode()
        reply("openalex", "/works", body, status=400, content_type="application/json")
        message = failure("academic_search", query="deep learning", provider="openalex").message
        assert secret[:3] not in message
