"""What a user's words name, and that a request is for that and nothing else."""

import pytest

from ferrule_dev.testing import Server
from ferrule_scholar.works.identifiers import normalise_arxiv, normalise_doi, parse_identifier

from .conftest import Failure, Reply

pytestmark = pytest.mark.process

DEEP = "10.1038/nature14539"
OLD = "10.1002/(sici)1097-0258(19980815/30)17:15/16<1661::aid-sim968>3.0.co;2-2"


@pytest.mark.parametrize(
    ("words", "doi"),
    [
        (f"https://doi.org/{DEEP}?utm_source=x", DEEP),
        (f"https://doi.org/{DEEP}#sec-2", DEEP),
        (f"https://www.doi.org/{DEEP}", DEEP),
        (f"https://onlinelibrary.wiley.com/doi/full/{DEEP}/abstract", DEEP),
        (f"https://publisher.example/content/{DEEP}.pdf", DEEP),
        (f"https://publisher.example/article?id={DEEP}&type=printable", DEEP),
        (f"See LeCun (https://doi.org/{DEEP}?x=1).", DEEP),
        (f"LeCun, Y. Deep learning. Nature. doi:{DEEP}. https://publisher.example/10.1000/other", DEEP),
        (f"{DEEP}.", DEEP),
        (OLD, OLD),
        (OLD.upper(), OLD),
        (f"A paper of 1998. doi:{OLD}", OLD),
        ("https://doi.org/10.1002/1521-3951(199911)216:1%3C135::AID-PSSB135%3E3.0.CO;2-%23",
         "10.1002/1521-3951(199911)216:1<135::aid-pssb135>3.0.co;2-#"),
        ("https://www.biorxiv.org/content/10.1101/2020.01.01.123456v2.full", "10.1101/2020.01.01.123456"),
    ],
)  # fmt: skip
def test_a_doi_is_found_whole_and_without_what_an_address_adds(words: str, doi: str) -> None:
    assert parse_identifier(words) == ("doi", doi)


def test_a_doi_that_a_service_writes_as_an_address_keeps_its_end() -> None:
    doi = "10.1002/1521-3951(199911)216:1<135::aid-pssb135>3.0.co;2-#"
    assert normalise_doi(f"https://doi.org/{doi}") == doi


@pytest.mark.parametrize(
    ("words", "number"),
    [
        ("math.GT/0309136", "math/0309136"),
        ("arXiv:Hep-Th/9901001v2", "hep-th/9901001"),
        ("cond-mat.str-el/0102001", "cond-mat/0102001"),
        ("https://export.arxiv.org/abs/math.GT/0309136", "math/0309136"),
        ("https://arxiv.org/abs/1706.03762v5", "1706.03762"),
    ],
)
def test_a_number_of_arxiv_has_one_spelling(words: str, number: str) -> None:
    assert parse_identifier(words) == ("arxiv", number)
    assert normalise_arxiv(number) == number


@pytest.mark.parametrize("text", ["10.1000/../../v2/x", "https://doi.org/10.1000/%2e%2e/x", "10.1000/a/./b"])
def test_what_would_lead_to_another_path_is_no_doi(text: str) -> None:
    assert normalise_doi(text) == ""


@pytest.mark.parametrize("provider", ["openalex", "crossref", "semanticscholar", "europepmc"])
def test_a_doi_adds_no_parameter_to_a_request(server: Server, failure: Failure, reply: Reply, provider: str) -> None:
    for service in ("openalex", "crossref", "semantic_scholar", "europe_pmc"):
        reply(service, "*", b"{}", status=404)
    failure("citation_graph", paper='10.1000/a?select=id&x="b#c', provider=provider, direction="references")
    targets = [one.target for one in server.requests]
    assert targets
    assert not any("?select" in one or "&x=" in one or "#" in one for one in targets)
