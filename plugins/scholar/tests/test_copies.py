"""Which records may be copies of a paper that is known by their title."""

import pytest

from ferrule_scholar.works.copies import find_copies
from ferrule_scholar.works.work import Work

pytestmark = pytest.mark.process  # the server of all tests here

TITLE = "Attention is all you need"
KNOWN = Work(TITLE, citations=500, doi="10.1000/a", url="https://publisher.example/a")


@pytest.mark.parametrize(
    ("change", "is_copy"),
    [
        ({}, True),
        ({"title": "ATTENTION, is all: you need!"}, True),
        ({"title": "Attention is all you needed"}, False),
        ({"citations": 50}, False),
        ({"citations": 49}, True),
        ({"url": "https://www.nature.com/articles/x"}, False),
        ({"url": "https://www.example.edu/x.pdf"}, False),
        ({"url": "https://nature.com.papers.example/x"}, True),
        ({"url": "https://doi.org/10.1000/b"}, False),
        ({"url": "https://api.openalex.org/W1"}, False),
        ({"url": ""}, False),
        ({"url": "http://[papers.example/b"}, False),
        ({"url": "http://[papers.example/b", "pdf_url": "https://papers.example/x.pdf"}, True),
        ({"url": "", "pdf_url": "https://papers.example/x.pdf"}, True),
    ],
)
def test_a_record_of_a_known_title_on_an_unknown_host_may_be_a_copy(change: dict[str, object], is_copy: bool) -> None:
    other = Work(TITLE, citations=3, doi="10.1000/b", url="https://papers.example/b")._replace(**change)  # type: ignore[arg-type] # fields by name
    assert find_copies([KNOWN, other]) == ({1} if is_copy else set())


def test_a_title_that_is_not_cited_much_says_nothing_of_others() -> None:
    works = [KNOWN._replace(citations=49), Work(TITLE, doi="10.1000/b", url="https://papers.example/b")]
    assert find_copies(works) == set()


def test_short_titles_are_those_of_many_papers() -> None:
    works = [KNOWN._replace(title="Editorial"), Work("Editorial", doi="10.1000/b", url="https://papers.example/b")]
    assert find_copies(works) == set()
