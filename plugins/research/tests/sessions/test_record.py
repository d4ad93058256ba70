"""Sources of a session: each once, within bounds, whatever is recorded."""

from pathlib import Path

import pytest

from ferrule_research.sessions import Source, read_session, record_sources


def test_a_source_is_kept_once_and_later_ones_add_to_it(session: str) -> None:
    assert (
        record_sources(session, [{"url": "https://a.example/x?utm_source=y", "title": "First", "relevance": "found"}])
        == ""
    )
    record_sources(session, [{"url": "http://A.example/x/", "title": "Other", "author": "Ann", "relevance": "scraped"}])
    (source,) = read_session(session)["sources"]
    assert source == {
        "url": "https://a.example/x?utm_source=y",
        "title": "First",
        "author": "Ann",
        "relevance": "scraped",
        "foundInStep": 1,
        "recorded": source["recorded"],
    }


def test_two_addresses_with_one_doi_are_one_source(session: str) -> None:
    record_sources(
        session,
        [{"url": "https://a.example/1", "doi": "10.1000/X"}, {"url": "https://b.example/2", "doi": "10.1000/x"}],
    )
    assert [one["url"] for one in read_session(session)["sources"]] == ["https://a.example/1"]


PAGE: Source = {
    "url": "https://page.example/x",
    "title": "Miracle cure proven",
    "author": "Mallory",
    "site": "Cures",
    "doi": "10.1000/x",
    "relevance": "scraped",
}
PAPER: Source = {
    "url": "https://doi.org/10.1000/x",
    "title": "Deep learning",
    "author": "LeCun, Yann",
    "doi": "10.1000/x",
    "relevance": "academic",
}


@pytest.mark.parametrize("order", [(PAGE, PAPER), (PAPER, PAGE)])
def test_a_page_that_names_the_doi_of_a_paper_does_not_stand_for_it(session: str, order: tuple[Source, ...]) -> None:
    for one in order:
        assert record_sources(session, [one]) == ""
    (source,) = read_session(session)["sources"]
    assert source == {**PAPER, "foundInStep": 1, "recorded": source["recorded"]}


@pytest.mark.parametrize(
    "url",
    [
        "",
        "ftp://a.example/",
        "javascript:alert(1)",
        "https://",
        "https://a b",
        "http://[",
        "http://a:99999/",
        "http://a:b/",
        5,
        None,
    ],
)
def test_what_is_no_address_of_the_web_is_no_source(session: str, url: object) -> None:
    record_sources(session, [{"url": url}])  # type: ignore[typeddict-item] # what a careless tool sends
    assert read_session(session)["sources"] == []


def test_texts_are_lines_within_bounds(session: str) -> None:
    record_sources(session, [{"url": "https://a.example/", "title": "a\nb\u200b " + "c" * 900, "unknown": 5}])  # type: ignore[typeddict-unknown-key] # what a careless tool sends
    (source,) = read_session(session)["sources"]
    assert source["title"].startswith("a b c")
    assert len(source["title"]) == 500
    assert "unknown" not in source


def test_the_number_of_sources_is_bounded(session: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from ferrule_research.sessions import record

    monkeypatch.setattr(record, "MAX_SOURCES", 2)
    why = record_sources(session, [{"url": f"https://a.example/{number}"} for number in range(4)])
    assert len(read_session(session)["sources"]) == 2
    assert why == "the session has 2 sources, which is the most that it keeps: 2 were left out"
    assert record_sources(session, [{"url": "https://a.example/1", "title": "Known"}]) == ""


def test_a_session_that_is_not_there_is_a_reason_and_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "no such research session" in record_sources("nonsense", [{"url": "https://a.example/"}])
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("FERRULE_STATE", str(tmp_path / "file"))
    assert "cannot be used" in record_sources("nonsense", [{"url": "https://a.example/"}])
