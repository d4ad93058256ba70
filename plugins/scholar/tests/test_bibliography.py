"""References in each style, from sources with all that makes them hard."""

import json
import re
from typing import Any

import pytest

from ferrule_dev.testing import Server
from ferrule_scholar import bibliography

from .conftest import Call, Failure, Reply, queries

pytestmark = pytest.mark.process

DEEP: dict[str, Any] = {
    "doi": "https://doi.org/10.1038/NATURE14539",
    "title": "Deep learning",
    "authors": ["LeCun, Yann", "Bengio, Yoshua", "Hinton, Geoffrey"],
    "journal": "Nature",
    "volume": "521",
    "issue": "7553",
    "pages": "436-444",
    "date": "2015-05-27",
}
BOOK = {"url": "https://b.example/b", "type": "book", "title": "On the origin of species", "author": "Charles Darwin",
        "publisher": "John Murray", "date": "1859"}  # fmt: skip
PAGE = {
    "url": "https://who.example/a",
    "title": r"On $x$ & {y} of 50% \ `z` #_~^",
    "author": "World Health Organization",
    "site": "Health",
    "date": "2020-01",
}
TALK = {"url": "https://c.example/t", "title": "Grammar", "authors": ["Johannes van der Berg", "Müller, Jürgen"],
        "type": "paper-conference", "journal": "Proceedings of Things", "pages": "1-9", "year": 2001}  # fmt: skip
DATA = "10.5281/zenodo.1234"
DOI_OF_DEEP = "https://doi.org/10.1038/nature14539"


def write(call: Call, style: str, *sources: dict[str, Any]) -> str:
    answer = call("format_bibliography", style=style, sources=list(sources))
    assert answer["entryCount"] == len(sources)
    text: str = answer["bibliography"]
    return text


@pytest.mark.parametrize(
    ("style", "line"),
    [
        (
            "apa",
            f"LeCun, Y., Bengio, Y., & Hinton, G. (2015). Deep learning. Nature, 521(7553), 436–444. {DOI_OF_DEEP}",
        ),
        (
            "mla",
            f"LeCun, Yann, et al. “Deep Learning.” Nature, vol. 521, no. 7553, May 2015, pp. 436–44, {DOI_OF_DEEP}.",
        ),
        (
            "chicago",
            "LeCun, Yann, Yoshua Bengio, and Geoffrey Hinton. 2015. “Deep Learning.” Nature 521 (7553): 436–44. "
            f"{DOI_OF_DEEP}.",
        ),
        (
            "ieee",
            "[1] Y. LeCun, Y. Bengio, and G. Hinton, “Deep learning,” Nature, vol. 521, no. 7553, pp. 436–444, May "
            "2015, doi: 10.1038/nature14539.",
        ),
        (
            "vancouver",
            "1. LeCun Y, Bengio Y, Hinton G. Deep learning. Nature. 2015;521: 436–444. doi:10.1038/nature14539",
        ),
        (
            "harvard",
            "LeCun, Y., Bengio, Y. and Hinton, G. (2015) “Deep learning,” Nature, 521(7553), pp. 436–444. "
            f"Available at: {DOI_OF_DEEP}.",
        ),
    ],
)
def test_an_article_in_each_style(call: Call, style: str, line: str) -> None:
    assert write(call, style, DEEP) == line


@pytest.mark.parametrize("style", ["apa", "mla", "chicago", "ieee", "vancouver", "harvard"])
def test_signs_that_are_commands_elsewhere_come_out_as_they_are(call: Call, style: str) -> None:
    line = write(call, style, PAGE)
    assert re.search(re.escape(r"$x$ & {y} of 50% \ `z` #_~^").replace("of", "[Oo]f"), line)
    assert "World Health Organization" in line
    assert "2026" not in line


@pytest.mark.parametrize("style", ["apa", "ieee", "bibtex", "ris", "csl-json"])
def test_characters_that_are_not_seen_are_left_out(call: Call, style: str) -> None:
    hidden = {**PAGE, "title": "Red\x1b[3m \u202enotes\x08", "authors": ["Le\x07e, Ann", "\x01"], "site": "Jour\x02nal"}
    text = write(call, style, hidden)
    shown = json.dumps(json.loads(text), ensure_ascii=False) if style == "csl-json" else text
    assert all(one.isprintable() or one == "\n" for one in shown)
    assert all(word in text for word in ("notes", "Lee", "Journal"))


def test_a_page_has_the_day_of_access_only_where_it_is_given(call: Call) -> None:
    assert "Accessed" not in write(call, "ieee", PAGE)
    assert "Accessed: Nov. 01, 2026" in write(call, "ieee", {**PAGE, "accessed": "2026-11-01"})


def test_styles_by_name_are_sorted_and_numbered_ones_keep_the_order(call: Call) -> None:
    assert [one[:6] for one in write(call, "apa", TALK, DEEP, BOOK).splitlines()] == ["Darwin", "LeCun,", "van de"]
    assert [one[:9] for one in write(call, "ieee", TALK, DEEP).splitlines()] == ["[1] J. va", "[2] Y. Le"]


@pytest.mark.parametrize("style", ["apa", "mla", "chicago", "ieee", "vancouver", "harvard"])
def test_an_address_that_the_processor_refuses_stands_as_it_is_and_takes_no_other_with_it(
    call: Call, style: str
) -> None:
    pages = [{"url": url, "title": f"Page {url}"} for url in ("http://1.2.3.4.5/x", "https://a%zz/?q=1")]
    text = write(call, style, *pages, {"url": "https://good.example/y", "title": "Good"}, DEEP)
    assert all(address in text for address in ("1.2.3.4.5/x", "a%zz/?q=1", "good.example/y"))
    assert ".invalid" not in text


def test_a_reference_that_the_processor_cannot_read_is_named(failure: Failure, monkeypatch: pytest.MonkeyPatch) -> None:
    from ferrule_scholar.bibliography import styles

    whole = styles._describe
    monkeypatch.setattr(styles, "_describe", lambda one: {**whole(one), "type": "nonsense"} if one.doi else whole(one))
    error = failure("format_bibliography", sources=[PAGE, DEEP])
    assert "'Deep learning' (https://doi.org/10.1038/nature14539)" in error.message
    assert "csl-json" in (error.hint or "")


@pytest.mark.parametrize("doi", ["10.1002/(sici)1097-0258<1661::aid-sim968>3.0.co;2-2", '10.1000/a<b>"c'])
def test_a_doi_with_angle_brackets_is_written_whole(call: Call, doi: str) -> None:
    line = write(call, "apa", {**DEEP, "doi": doi})
    assert line.endswith(f"Nature, 521(7553), 436–444. https://doi.org/{doi}")


def test_a_book_and_a_talk_are_what_they_are(call: Call) -> None:
    assert write(call, "apa", BOOK).startswith("Darwin, C. (1859). On the origin of species. John Murray.")
    assert "in Proceedings of Things, 2001, pp. 1–9" in write(call, "ieee", TALK)
    assert "Grammar. In Proceedings of Things (pp. 1–9)." in write(call, "apa", TALK)


def test_a_preprint_names_its_server_as_it_is_written(call: Call) -> None:
    source = {"doi": "10.48550/arXiv.1706.03762", "title": "What BERT reads", "author": "Ann Lee", "year": 2017}
    source["site"] = "arXiv"
    line = write(call, "mla", source)
    assert line == "Lee, Ann. “What BERT Reads.” arXiv, 2017, https://doi.org/10.48550/arxiv.1706.03762."


def test_bibtex_escapes_and_has_the_kind_of_each(call: Call) -> None:
    text = write(call, "bibtex", TALK, DEEP, BOOK, PAGE)
    assert re.findall(r"@(\w+)\{(\w+),", text) == [
        ("book", "darwin1859origin"),
        ("article", "lecun2015deep"),
        ("inproceedings", "vanderberg2001grammar"),
        ("misc", "worldhealthorganization2020x"),
    ]
    assert "author = {van der Berg, Johannes and Müller, Jürgen}" in text
    assert "author = {{World Health Organization}}" in text
    assert r"\$x\$ \& \{y\} of 50\% \textbackslash{} `z` \#\_\textasciitilde{}\textasciicircum{}" in text
    assert "pages = {436--444}" in text
    assert "urldate" not in text


def test_keys_that_clash_get_letters(call: Call) -> None:
    sources = [{**DEEP, "doi": f"10.1000/{number}"} for number in range(4)]
    keys = re.findall(r"@article\{(\w+),", write(call, "bibtex", *sources))
    assert keys == ["lecun2015deep", "lecun2015deepa", "lecun2015deepb", "lecun2015deepc"]


def test_a_name_without_ascii_letters_still_has_a_key(call: Call) -> None:
    source = {**DEEP, "authors": ["Łukasz Kaiser"], "title": "Ähren"}
    assert "kaiser2015ahren" in write(call, "bibtex", source)
    assert "anon" not in write(call, "bibtex", {**DEEP, "authors": ["山田太郎"]})


def test_ris_has_inverted_names_and_whole_dates(call: Call) -> None:
    lines = write(call, "ris", DEEP).splitlines()
    assert lines[0] == "TY  - JOUR"
    assert {"AU  - LeCun, Yann", "DA  - 2015/05/27/", "SP  - 436", "EP  - 444", "DO  - 10.1038/nature14539"} <= set(
        lines
    )
    assert lines[-1] == "ER  - "
    assert "DA  - 2020/01//" in write(call, "ris", PAGE)


def test_csl_json_is_json(call: Call) -> None:
    (item,) = json.loads(write(call, "csl-json", DEEP))
    assert item["author"][0] == {"family": "LeCun", "given": "Yann"}
    assert item["issued"] == {"date-parts": [[2015, 5, 27]]}
    assert (item["type"], item["DOI"], item["URL"]) == ("article-journal", "10.1038/nature14539", DOI_OF_DEEP)


def test_the_same_source_by_doi_or_address_counts_once(call: Call) -> None:
    again = {"url": "https://www.nature.com/articles/10.1038/nature14539", "title": "Deep learning"}
    page = {**PAGE, "url": "http://www.who.example/a/?utm_source=x"}
    assert call("format_bibliography", sources=[DEEP, again, PAGE, page])["entryCount"] == 2


def test_a_doi_without_a_title_is_looked_up(server: Server, call: Call, reply: Reply) -> None:
    reply("crossref", "/works", "crossref-search.json")
    line = write(call, "apa", {"url": DOI_OF_DEEP})
    assert line.startswith("LeCun, Y., Bengio, Y., & Hinton, G. (2015). Deep learning. Nature, 521(7553)")
    assert queries(server, "crossref")[0]["filter"] == "doi:10.1038/nature14539"


def test_a_doi_that_nobody_has_is_said(failure: Failure, reply: Reply) -> None:
    reply("crossref", "/works", "crossref-empty.json")
    for service in ("openalex", "doi"):
        reply(service, "*", b"{}", status=404)
    error = failure("format_bibliography", sources=[{"doi": "10.1000/none"}])
    assert error.code == "NOT_FOUND"
    assert error.message == "Crossref, OpenAlex and doi.org have no record of these DOIs: 10.1000/none."
    assert "give the title" in (error.hint or "")


@pytest.mark.parametrize("status", [200, 500])
def test_a_doi_that_crossref_does_not_give_is_looked_up_at_openalex(
    server: Server, call: Call, reply: Reply, status: int
) -> None:
    reply("crossref", "/works", "crossref-empty.json", status=status)
    reply("openalex", f"/works/doi:{DEEP['doi'].partition('org/')[2].lower()}", "openalex-record.json")
    reply("doi", "*", b"{}", status=404)
    answer = call("format_bibliography", sources=[{"doi": "10.1038/nature14539"}])
    assert "(2015). Deep learning. Nature" in answer["bibliography"]
    assert answer.get("incomplete", "") == ("" if status == 200 else "Crossref answered with HTTP 500.")
    assert "api_key" not in queries(server, "openalex")[0]


def hand_on(reply: Reply, server: Server, location: str) -> None:
    """doi.org leads to an agency, as it does for metadata, and nobody else knows the DOI."""
    reply("crossref", "/works", "crossref-empty.json")
    reply("openalex", "*", b"{}", status=404)
    reply("doi", f"/{DATA}", b"", status=302, headers={"Location": location})
    item = {
        "DOI": DATA.upper(),
        "type": "dataset",
        "title": "Rain in <i>Ulm</i>",
        "publisher": "Zenodo",
        "author": [{"family": "Ek", "given": "Ann"}, {"literal": "The Rain Group"}],
        "issued": {"date-parts": [["2021", 3]]},
    }
    server.page("/agency", json.dumps(item), "application/vnd.citationstyles.csl+json")


def test_the_doi_of_data_is_looked_up_at_the_agency_that_doi_org_names(
    server: Server, call: Call, reply: Reply
) -> None:
    hand_on(reply, server, f"{server.url}/agency")
    (item,) = json.loads(write(call, "csl-json", {"doi": DATA}))
    assert (item["type"], item["title"], item["DOI"]) == ("dataset", "Rain in Ulm", DATA)
    assert item["author"] == [{"family": "Ek", "given": "Ann"}, {"literal": "The Rain Group"}]
    assert item["issued"] == {"date-parts": [[2021, 3]]}
    assert {one.headers["accept"] for one in server.requests if one.target == "/agency"} == {
        "application/vnd.citationstyles.csl+json"
    }


@pytest.mark.parametrize(
    "place",
    [
        "http://elsewhere.example/agency",
        "https://doi.org.example/",
        "https://[",
        "/doi/x",
        "http://api.crossref.org/x",
        "https://api.crossref.org:8443/x",
        "https://name:word@api.crossref.org/x",
        "https://api.crossref.org@elsewhere.example/",
    ],
)
def test_a_redirect_to_another_host_than_an_agency_is_not_followed(
    server: Server, failure: Failure, reply: Reply, place: str
) -> None:
    hand_on(reply, server, place)
    error = failure("format_bibliography", sources=[{"doi": DATA}])
    if place == "/doi/x":  # of the same server, which has nothing there
        assert error.code == "NOT_FOUND"
    else:
        assert "doi.org answered with HTTP 302" in error.message
    assert "elsewhere" not in str(error.facts())


def test_a_doi_with_a_comma_has_crossref_asked_for_no_other_works(
    server: Server, failure: Failure, reply: Reply
) -> None:
    reply("crossref", "/works", "crossref-search.json")
    for service in ("openalex", "doi"):
        reply(service, "*", b"{}", status=404)
    assert failure("format_bibliography", sources=[{"doi": "10.1000/a,b"}]).code == "NOT_FOUND"
    assert queries(server, "crossref") == []


@pytest.mark.parametrize("style", ["apa", "csl-json"])
@pytest.mark.parametrize(
    ("parts", "issued"),
    [([10**30], None), ([-5], None), ([2024, None, 5], [2024]), (["2024", "13"], [2024]), ([2024, 2, 30], [2024])],
)
def test_a_date_that_no_calendar_has_costs_no_bibliography(
    server: Server, call: Call, reply: Reply, style: str, parts: list[object], issued: list[int] | None
) -> None:
    hand_on(reply, server, f"{server.url}/agency")
    item = {"DOI": DATA, "title": "Rain in Ulm", "issued": {"date-parts": [parts]}}
    server.page("/agency", json.dumps(item), "application/json")
    text = write(call, style, {"doi": DATA})
    if style == "apa":
        assert text.startswith(f"Rain in Ulm. ({'2024' if issued else 'n.d.'}")
    else:
        (found,) = json.loads(text)
        assert found.get("issued") == (issued and {"date-parts": [issued]})


def test_an_agency_that_leads_in_a_circle_is_left(server: Server, failure: Failure, reply: Reply) -> None:
    hand_on(reply, server, f"/doi/{DATA}")
    assert "doi.org leads from one place to the next" in failure("format_bibliography", sources=[{"doi": DATA}]).message


def test_where_nobody_answers_the_error_names_each_and_can_be_tried_again(failure: Failure) -> None:
    error = failure("format_bibliography", sources=[{"doi": "10.1000/none"}])
    assert error.details is not None
    assert (error.code, error.details["retryable"]) == ("NETWORK_ERROR", True)
    assert error.details["providersAttempted"] == ["crossref", "openalex", "doi"]
    for name in ("Crossref", "OpenAlex", "doi.org"):
        assert f"{name} gave no answer: Connection refused." in error.message


def test_nobody_is_asked_where_titles_are_given(server: Server, call: Call) -> None:
    write(call, "apa", DEEP)
    assert server.requests == []


@pytest.mark.parametrize(
    ("source", "finding"),
    [
        ({"title": "T"}, "sources[0]: it needs a url or a doi"),
        ({"url": "ftp://a.example/", "title": "T"}, "is no http or https URL"),
        ({"url": "https://", "title": "T"}, "is no http or https URL"),
        ({"url": "https://[", "title": "T"}, "is no http or https URL"),
        ({"url": "http://a:99999/x", "title": "T"}, "is no http or https URL"),
        ({"url": "http://a b.example/", "title": "T"}, "is no http or https URL"),
        ({"doi": "10.x/1"}, "is no DOI"),
        ({"url": "https://a.example/"}, "it needs a title"),
        ({"url": "https://a.example/", "title": "T", "date": "yesterday"}, "date: 'yesterday' is no date"),
    ],
)
def test_a_source_that_cannot_be_cited_is_named(source: dict[str, Any], finding: str) -> None:
    (found,) = bibliography.validate({"sources": [source]})
    assert finding in found


def test_no_source_at_all_is_named() -> None:
    assert bibliography.validate({"sources": []}) == [
        "sources: name at least one, with a url or a doi, or give the sessionId of a research"
    ]
