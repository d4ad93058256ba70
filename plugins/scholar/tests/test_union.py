"""Which records are of one paper, where titles and authors alone do not say it."""

import pytest

from ferrule_research.library import Name
from ferrule_scholar.works.union import merge
from ferrule_scholar.works.work import Work

TITLE = "A survey of graph neural networks"
AUTHORS = (Name("Smith", "Ann"),)

pytestmark = pytest.mark.process


def work(service: str, year: int = 2019, **identifiers: str) -> Work:
    return Work(TITLE, AUTHORS, year, sources=(service,), **identifiers)  # type: ignore[arg-type] # identifiers are texts


def papers(*works: Work) -> list[set[str]]:
    """The identifiers of each paper that is found."""
    answers: dict[str, list[Work]] = {}
    for one in works:
        answers.setdefault(one.sources[0], []).append(one)
    return [{identifier.value for identifier in one.identifiers} for one in merge(answers)]


TALK = work("crossref", 2019, doi="10.1109/icml.1")
ARTICLE = work("crossref", 2021, doi="10.1016/j.x.2")
PREPRINT = work("arxiv", 2019, arxiv="1901.00001")


@pytest.mark.parametrize("order", [(TALK, ARTICLE, PREPRINT), (ARTICLE, TALK, PREPRINT), (PREPRINT, ARTICLE, TALK)])
def test_a_preprint_does_not_make_one_paper_of_two(order: tuple[Work, ...]) -> None:
    found = papers(*order)
    assert len(found) == 2
    assert {"10.1109/icml.1"} <= set.union(*found)
    assert {"10.1016/j.x.2"} <= set.union(*found)


def test_a_preprint_joins_the_paper_that_is_nearest_in_time() -> None:
    assert {"10.1109/icml.1", "1901.00001"} in papers(ARTICLE, TALK, PREPRINT)


def test_records_that_share_an_identifier_are_one_paper_whatever_else_they_have() -> None:
    first = work("crossref", doi="10.1000/a", pmid="1")
    assert len(papers(first, work("pubmed", doi="10.1000/b", pmid="1"))) == 1


@pytest.mark.parametrize(
    ("one", "other", "number"),
    [
        ("10.1101/gr.1", "10.1101/gr.2", 2),  # of a journal, whose publisher has preprints, too
        ("10.1101/2019.01.01.123456", "10.1101/gr.123.119", 2),
        ("10.1101/2019.01.01.123456", "10.1038/s41586-1", 1),
        ("10.1101/123456", "10.1016/j.x.2", 1),
        ("10.21203/rs.3.rs-1/v1", "10.21203/rs.3.rs-1/v2", 1),
        ("10.21203/rs.3.rs-1/v1", "10.21203/rs.3.rs-2/v1", 2),
        ("10.20944/preprints202001.0001.v1", "10.20944/preprints202001.0001.v2", 1),
    ],
)
def test_two_dois_are_one_paper_only_where_one_may_be_its_preprint(one: str, other: str, number: int) -> None:
    assert len(papers(work("crossref", doi=one), work("openalex", doi=other))) == number
