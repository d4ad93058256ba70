"""A session as a document: everything is in it once, and what others wrote is text in it."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from ferrule_dev.testing import context
from ferrule_research.export.bibliographies import write_bibtex
from ferrule_research.export.markdown import escape_line, escape_text, write_address
from ferrule_research.sessions import Source, record_sources

Call = Callable[..., dict[str, Any]]

PAPER: Source = {
    "url": "https://doi.example/paper",
    "title": "On umbrellas & rain_fall",
    "relevance": "academic",
    "author": "Ada van der Berg; Bo Ek; World Umbrella Organization",
    "journal": "Journal of Rain",
    "date": "2019-05-07",
    "doi": "10.1000/rain.1",
}
PAGE: Source = {"url": "https://a.example/page", "title": "A page", "relevance": "scraped", "site": "a.example"}
FORGED = "](https://evil.example)\n\n# Forged\n- <b>x</b> https://evil.example www.evil.example a@evil.example"


def tokens(markdown: str) -> list[Token]:
    """All tokens of a document, as GitHub reads it."""
    found = MarkdownIt("gfm-like", {"linkify": False}).parse(markdown)
    return [token for block in found for token in (block, *(block.children or []))]


def links(markdown: str) -> list[str]:
    return [str(token.attrs["href"]) for token in tokens(markdown) if token.type == "link_open"]


@pytest.fixture
def export(call: Call, session: str) -> Call:
    """Export the session; the answer."""

    def export(form: str = "markdown", **arguments: Any) -> dict[str, Any]:
        return call("research_export", sessionId=session, format=form, **arguments)

    return export


def test_markdown_has_all_of_the_session(add: Call, export: Call, session: str) -> None:
    record_sources(session, [PAPER, PAGE])
    add(2, "Read.\nAnd think.", sessionId=session, reasoning="Why not?", confidence="high", revisesStep=1)
    add(3, "x", sessionId=session, branchFromStep=1, branchId="b", rejectedApproaches=["y"], knowledgeGap="why")
    answer = export()
    text = answer["document"]
    assert (answer["stepCount"], answer["sourceCount"], answer["format"]) == (3, 2, "markdown")
    for part in (
        "# When were umbrellas first made?",
        "### Step 1 (superseded by step 2)",
        "### Step 2 (revises step 1)",
        "### Step 3 (branch b) (from step 1)",
        "**Reasoning:** Why not?",
        "**Confidence:** high",
        "**Rejected:**\n\n- y",
        "## Open questions\n\n- why (step 3)",
        "## Sources\n\n1. [On umbrellas \\& rain\\_fall](<https://doi.example/paper>)",
        "2. [A page](<https://a.example/page>), a.example, scraped, step 1",
    ):
        assert part in text
    assert links(text) == [PAPER["url"], PAGE["url"]]
    assert export() == answer  # no instant of the export is in it


def test_what_others_wrote_forges_nothing(add: Call, export: Call, session: str) -> None:
    record_sources(session, [{"url": "https://a.example/)>](x", "title": FORGED, "author": FORGED, "site": FORGED}])
    named = {"reasoning": FORGED, "rejectedApproaches": [FORGED], "sessionSummary": FORGED, "knowledgeGap": FORGED}
    add(2, FORGED, sessionId=session, branchId=FORGED[:60], branchFromStep=1, **named)
    text = export()["document"]
    assert links(text) == ["https://a.example/)%3E%5D(x"]
    assert "https://evil" not in text  # which is a link on GitHub without any brackets
    assert "www.evil" not in text
    headings = [token.tag for token in tokens(text) if token.type == "heading_open"]
    assert headings == ["h1", "h3", "h3", "h2", "h2"]
    assert not [token for token in tokens(text) if token.type.startswith("html")]


@given(st.text(alphabet="ab1 \n\\`*_{}[]()<>#+-.!|~&$=:/@\"'wh\t", max_size=60))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_is_shown_as_it_is(text: str) -> None:
    line = " ".join(text.split())
    shown = [token for token in tokens(escape_line(text)) if token.type not in ("inline", "text_special")]
    assert {token.type for token in shown} <= {"paragraph_open", "paragraph_close", "text", "softbreak"}
    said = "".join(token.content for token in tokens(escape_line(text)) if token.type in ("text", "text_special"))
    assert said == line
    kinds = {token.type for token in tokens(escape_text(text))}
    assert kinds <= {"paragraph_open", "paragraph_close", "text", "inline", "softbreak", "hardbreak", "text_special"}


@given(st.text(max_size=40))
def test_an_address_stays_one(rest: str) -> None:
    found = links(f"[x]({write_address('https://a.example/' + rest)})")
    assert len(found) == 1
    assert found[0].startswith("https://a.example/")


def test_json_has_what_is_kept(add: Call, export: Call, session: str) -> None:
    record_sources(session, [PAPER, PAGE])
    add(2, FORGED, sessionId=session, knowledgeGap="why", revisesStep=1)
    document = export("json")["document"]
    assert [one["description"] for one in document["steps"]] == ["Look around.", FORGED]
    assert document["steps"][0]["supersededBy"] == 2
    assert [one["url"] for one in document["sources"]] == [PAPER["url"], PAGE["url"]]
    assert document["gaps"] == [{"description": "why", "foundInStep": 2}]


def test_bibtex_has_each_source_under_a_key_of_its_own(export: Call, session: str) -> None:
    second: Source = {**PAPER, "url": "https://b.example/", "doi": "10.1000/rain.2"}
    record_sources(session, [PAPER, second, PAGE])
    entries = export("bibtex")["document"].strip().split("\n\n")
    assert len(entries) == 3
    assert re.match(r"@article\{vanderberg2019umbrellas,\n", entries[0])
    assert re.match(r"@article\{vanderberg2019umbrellasa,\n", entries[1])
    assert r"title = {{On umbrellas \& rain\_fall}}" in entries[0]
    assert "author = {van der Berg, Ada and Ek, Bo and {World Umbrella Organization}}" in entries[0]
    assert "doi = {10.1000/rain.1}" in entries[0]
    assert entries[2].startswith("@misc{")


def test_many_sources_of_one_name_have_different_keys() -> None:
    entries = write_bibtex([{**PAPER, "url": f"https://a.example/{number}"} for number in range(60)])
    assert len({entry.partition(",")[0] for entry in entries}) == 60


def test_ris_has_a_tag_before_each_line(export: Call, session: str) -> None:
    record_sources(session, [PAPER, {**PAGE, "title": "A\npage", "date": "2020"}])
    paper, page = export("ris")["document"].removesuffix("\n").split("\n\n")
    lines = paper.split("\n")
    assert lines[:-1] == [
        "TY  - JOUR",
        "ID  - vanderberg2019umbrellas",
        "TI  - On umbrellas & rain_fall",
        "AU  - van der Berg, Ada",
        "AU  - Ek, Bo",
        "AU  - World Umbrella Organization",
        "PY  - 2019",
        "DA  - 2019/05/07/",
        "T2  - Journal of Rain",
        "DO  - 10.1000/rain.1",
        "UR  - https://doi.org/10.1000/rain.1",
        lines[-2],
    ]
    assert re.fullmatch(r"Y2  - \d{4}/\d\d/\d\d/", lines[-2])
    assert lines[-1] == "ER  - "
    assert page.startswith(
        "TY  - ELEC\nID  - aexample2020page\nTI  - A page\nPY  - 2020\nDA  - 2020///\nT2  - a.example\n"
    )


def test_csl_json_has_names_in_parts(export: Call, session: str) -> None:
    record_sources(session, [PAPER, PAGE])
    paper, page = export("csl-json")["document"]
    assert (paper["type"], page["type"]) == ("article-journal", "webpage")
    assert paper["author"] == [
        {"family": "van der Berg", "given": "Ada"},
        {"family": "Ek", "given": "Bo"},
        {"literal": "World Umbrella Organization"},
    ]
    assert paper["issued"] == {"date-parts": [[2019, 5, 7]]}
    assert (paper["DOI"], paper["container-title"]) == ("10.1000/rain.1", "Journal of Rain")
    assert "author" not in page
    assert paper["id"] != page["id"]


@pytest.mark.parametrize("form", ["markdown", "json", "bibtex", "ris", "csl-json"])
def test_a_large_document_comes_in_parts(export: Call, session: str, form: str) -> None:
    sources: list[Source] = [
        {"url": f"https://a.example/{number}", "title": f"Page {number} " + "t" * 90} for number in range(60)
    ]
    record_sources(session, sources)
    small = context("research_export")
    small.max_bytes = 6000
    whole, parts, offset = json.dumps(export(form)["document"]), [], 0
    while offset is not None:
        answer = export(form, offset=offset, within=small)
        assert small.size(answer) <= 6000
        parts.append(json.dumps(answer["document"]))
        offset = answer.get("nextOffset")
        assert answer.get("truncated", False) == (offset is not None)
    assert len(parts) > 1
    for number in range(60):
        assert sum(part.count(f"Page {number} ") for part in parts) == whole.count(f"Page {number} ") == 1


def test_an_empty_bibliography_is_one(export: Call) -> None:
    assert [export(form)["document"] for form in ("bibtex", "ris", "csl-json")] == ["", "", []]


@pytest.mark.parametrize("url", ["https://x.example/a%252Fb?q=100%2525", "https://x.example/a%20b?c=%C3%BC"])
def test_an_address_that_is_safe_is_written_as_it_is(url: str) -> None:
    assert write_address(url) == f"<{url}>"
