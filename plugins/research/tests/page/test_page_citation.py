"""Citations, and the names and dates in them."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from ferrule_research.page.metadata.authors import Name, parse_authors, parse_person
from ferrule_research.page.metadata.bibliography import Bibliography, Place
from ferrule_research.page.metadata.citation import apa, bibtex, mla
from ferrule_research.page.metadata.dates import Date, read_date

pytestmark = pytest.mark.process


Scrape = Callable[..., dict[str, Any]]
At = Callable[..., str]
TODAY = Date(2026, 11, 21)
URL = "https://site.example/a_b?c=d%20e&f"


def facts(
    title: str = "On cells", authors: list[Name] | None = None, site: str = "Site", on: str = "", journal: str = ""
) -> Bibliography:
    return Bibliography(title, authors or [], site, read_date(on), frozenset(), journal)


@pytest.mark.parametrize(
    ("written", "family", "given"),
    [
        ("Ann Lee", "Lee", "Ann"),
        ("Lee, Ann", "Lee", "Ann"),
        ("Ludwig van Beethoven", "van Beethoven", "Ludwig"),
        ("María de la Cruz", "de la Cruz", "María"),
        ("de la Cruz, María", "de la Cruz", "María"),
        ("Robert De Niro", "De Niro", "Robert"),
        ("Jean d'Alembert", "d'Alembert", "Jean"),
        ("García Márquez, Gabriel José", "García Márquez", "Gabriel José"),
        ("J. R. R. Tolkien", "Tolkien", "J. R. R."),
        ("Martin Luther King Jr.", "King", "Martin Luther"),
        ("King, Martin Luther, Jr.", "King", "Martin Luther"),
        ("Ann Lee, PhD", "Lee", "Ann"),
        ("By Ann Lee", "Lee", "Ann"),
        ("Plato", "Plato", ""),
        ("李白", "李白", ""),
        ("Voltaire", "Voltaire", ""),
    ],
)
def test_a_name_is_taken_apart(written: str, family: str, given: str) -> None:
    name = parse_person(written)
    assert (name.family, name.given, name.literal) == (family, given, False)


@pytest.mark.parametrize(
    "written",
    ["World Health Organization", "The New York Times", "Editorial Board", "University of Oslo", "ACME, Inc."],
)
def test_an_organisation_is_not_turned_round(written: str) -> None:
    assert parse_person(written) == Name(written, literal=True)
    assert apa(facts(authors=[parse_person(written)]), URL).startswith(f"{written.rstrip('.')}. (n.d.).")


@pytest.mark.parametrize(
    ("written", "families"),
    [
        ("Ann Lee and Bo Ek", ["Lee", "Ek"]),
        ("Ann Lee, Bo Ek and Cy Day", ["Lee", "Ek", "Day"]),
        ("Lee, Ann; Ek, Bo", ["Lee", "Ek"]),
        ("Lee, Ann", ["Lee"]),
        ("Ann Lee & Bo Ek", ["Lee", "Ek"]),
        ("Ann Lee, PhD", ["Lee"]),
        ("Anderson Sandy", ["Sandy"]),
        ("", []),
    ],
)
def test_several_names_in_one_text_are_told_apart(written: str, families: list[str]) -> None:
    assert [name.family for name in parse_authors(written)] == families


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("2024-03-05", Date(2024, 3, 5)),
        ("2024-03-05T23:59:59+02:00", Date(2024, 3, 5)),
        ("2024/3/5", Date(2024, 3, 5)),
        ("20240305", Date(2024, 3, 5)),
        ("2024-03", Date(2024, 3)),
        ("2024", Date(2024)),
        ("March 5, 2024", Date(2024, 3, 5)),
        ("5 March 2024", Date(2024, 3, 5)),
        ("Mar 2024", Date(2024, 3)),
        ("Tue, 05 Mar 2024 10:00:00 GMT", Date(2024, 3, 5)),
        ("2024-02-31", Date(2024)),
        ("2023-02-29", Date(2023)),
        ("2024-02-29", Date(2024, 2, 29)),
        ("2024-13-01", Date(2024)),
        ("Tuesday, March 5, 2024", Date(2024, 3, 5)),
        ("05/03/2024", None),
        ("yesterday", None),
        ("", None),
        ("99999", None),
        ("0000-00-00", None),
    ],
)
def test_a_date_is_read_as_far_as_it_can_be_told(written: str, expected: Date | None) -> None:
    assert read_date(written) == expected


LEE, EK, DAY = Name("Lee", "Ann"), Name("Ek", "Bo"), Name("Day", "Cy")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (facts(authors=[LEE], on="2024-03-05"), f"Lee, A. (2024, March 5). On cells. Site. {URL}"),
        (facts(authors=[LEE, EK], on="2024-03"), f"Lee, A., & Ek, B. (2024, March). On cells. Site. {URL}"),
        (facts(authors=[LEE, EK, DAY], on="2024"), f"Lee, A., Ek, B., & Day, C. (2024). On cells. Site. {URL}"),
        (facts("Why?", on="2024"), f"Why? (2024). Site. {URL}"),
        (facts(), f"On cells. (n.d.). Site. {URL}"),
        (facts(""), f"Untitled. (n.d.). Site. {URL}"),
        (facts(authors=[Name("Plato")]), f"Plato. (n.d.). On cells. Site. {URL}"),
        (facts(authors=[Name("Site", literal=True)]), f"Site. (n.d.). On cells. {URL}"),
        (facts(authors=[Name("Sartre", "Jean-Paul")]), f"Sartre, J.-P. (n.d.). On cells. Site. {URL}"),
        (facts(authors=[Name("King", "Martin Luther", "Jr.")]), f"King, M. L., Jr. (n.d.). On cells. Site. {URL}"),
    ],
)
def test_apa(given: Bibliography, expected: str) -> None:
    assert apa(given, URL) == expected


def test_apa_names_nineteen_of_many_authors_and_the_last() -> None:
    many = [Name(f"N{number}", "A") for number in range(25)]
    written = apa(facts(authors=many), URL)
    assert "N18, A., … N24, A. (n.d.)." in written
    assert "N19" not in written


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (facts(authors=[LEE], on="2024-03-05"), f'Lee, Ann. "On cells." Site, 5 Mar. 2024, {URL}.'),
        (facts(authors=[LEE, EK]), f'Lee, Ann, and Bo Ek. "On cells." Site, {URL}.'),
        (facts(authors=[LEE, EK, DAY]), f'Lee, Ann, et al. "On cells." Site, {URL}.'),
        (facts('A "cell"?', on="2024"), f"\"A 'cell'?\" Site, 2024, {URL}."),
        (facts(authors=[Name("The Team", literal=True)]), f'The Team. "On cells." Site, {URL}.'),
    ],
)
def test_mla(given: Bibliography, expected: str) -> None:
    assert mla(given, URL, TODAY) == f"{expected} Accessed 21 Nov. 2026."


def test_bibtex_of_a_page() -> None:
    given = facts(
        "50% of $x_1 & {y} #2 ~ ^ \\n", [Name("de la Cruz", "María"), Name("R&D Team", literal=True)], on="2024-03-05"
    )
    assert bibtex(given, URL, TODAY) == (
        "@misc{delacruz202450,\n"
        "  author = {de la Cruz, María and {R\\&D Team}},\n"
        "  title = {{50\\% of \\$x\\_1 \\& \\{y\\} \\#2 \\textasciitilde{} \\textasciicircum{} \\textbackslash{}n}},\n"
        "  howpublished = {Site},\n"
        "  year = {2024},\n"
        "  month = {3},\n"
        "  url = {https://site.example/a_b?c=d%20e&f},\n"
        "  urldate = {2026-11-21}\n"
        "}"
    )


LANCET = facts(authors=[LEE], on="1998", journal="The Lancet")._replace(
    site="The Lancet", place=Place("351", "9103", "637", "641", "10.1016/S0140-6736(97)11096-0")
)
DOI = "https://doi.org/10.1016/S0140-6736(97)11096-0"


def test_bibtex_of_an_article_has_its_journal() -> None:
    entry = bibtex(LANCET, URL, TODAY)
    assert entry.startswith("@article{lee1998cells,\n")
    for line in ("journal = {The Lancet}", "volume = {351}", "number = {9103}", "pages = {637--641}"):
        assert line in entry
    assert "doi = {10.1016/S0140-6736(97)11096-0}" in entry


def test_apa_and_mla_of_an_article_have_its_place_in_the_journal_and_its_doi() -> None:
    assert apa(LANCET, URL) == f"Lee, A. (1998). On cells. The Lancet, 351(9103), 637–641. {DOI}"
    assert mla(LANCET, URL, TODAY) == (
        f'Lee, Ann. "On cells." The Lancet, vol. 351, no. 9103, 1998, pp. 637-641, {DOI}.'
    )


@pytest.mark.parametrize(
    ("place", "in_apa", "in_mla"),
    [
        (Place(volume="12"), "The Lancet, 12. ", "The Lancet, vol. 12, 1998"),
        (Place(issue="3"), "The Lancet, (3). ", "The Lancet, no. 3, 1998"),
        (Place(first="e17"), "The Lancet, e17. ", "The Lancet, 1998, p. e17"),
        (Place(doi="no DOI"), f"The Lancet. {URL}", f"The Lancet, 1998, {URL}. Accessed"),
    ],
)
def test_a_place_is_cited_as_far_as_it_is_known(place: Place, in_apa: str, in_mla: str) -> None:
    given = LANCET._replace(place=place)
    assert in_apa in apa(given, URL)
    assert in_mla in mla(given, URL, TODAY)


@pytest.mark.parametrize("evil", ["a}, note = {x", "{{{", "\\input{/etc/passwd}", "%", "a\n@misc{x"])
def test_no_title_breaks_out_of_its_field(evil: str) -> None:
    entry = bibtex(facts(evil, [Name(evil, literal=True)], site=evil), f"http://h/{evil}", TODAY)
    bare = re.sub(r"\\[{}]", "", entry)
    depth = 0
    for line in bare.split("\n")[1:-1]:
        for letter in line:
            depth += (letter == "{") - (letter == "}")
            assert depth >= 0
        assert depth == 0
    assert "\\input" not in entry


def source_of_all() -> str:
    return (
        '<title>Title | Host</title><meta property="og:title" content="Graph">'
        '<meta property="og:site_name" content="GraphSite">'
        '<meta property="article:published_time" content="2021-01-01"><meta name="author" content="Meta Author">'
    )


JSON_LD = (
    '<script type="application/ld+json">{"@graph":[{"@type":"WebSite","name":"W"},'
    '{"@type":"NewsArticle","headline":"Linked","datePublished":"2022-02-02","author":[{"@id":"#p"}],'
    '"publisher":{"@type":"Organization","name":"LinkedSite"}},'
    '{"@id":"#p","@type":"Person","name":"Linked Author"}]}</script>'
)
HIGHWIRE = (
    '<meta name="citation_title" content="High"><meta name="citation_author" content="Wire, Ann">'
    '<meta name="citation_date" content="2023/03/03"><meta name="citation_journal_title" content="Journal">'
)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (source_of_all() + JSON_LD + HIGHWIRE, ("High", "Ann Wire", "Journal", "2023-03-03")),
        (source_of_all() + JSON_LD, ("Linked", "Linked Author", "GraphSite", "2022-02-02")),
        (JSON_LD, ("Linked", "Linked Author", "LinkedSite", "2022-02-02")),
        (source_of_all(), ("Graph", "Meta Author", "GraphSite", "2021-01-01")),
        ("<title>Title | Host</title>", ("Title | Host", "", "host.example", "")),
        ("", ("", "", "host.example", "")),
    ],
    ids=["highwire", "json-ld over open graph", "json-ld", "open graph", "title", "nothing"],
)
def test_the_best_that_the_page_says_is_cited(scrape: Scrape, at: At, source: str, expected: tuple[str, ...]) -> None:
    metadata = scrape(at("http://www.host.example/a", source))["citation"]["metadata"]
    assert tuple(metadata[name] for name in ("title", "author", "site", "date")) == expected


def test_an_address_is_no_author(scrape: Scrape, at: At) -> None:
    source = '<meta property="article:author" content="https://facebook.com/somebody">'
    assert scrape(at("http://host.example/a", source))["citation"]["metadata"]["author"] == ""


PLACES = {
    "Highwire": HIGHWIRE
    + "".join(
        f'<meta name="citation_{name}" content="{value}">'
        for name, value in {"volume": "12", "issue": "3", "firstpage": "45", "lastpage": "67"}.items()
    ),
    "JSON-LD": '<script type="application/ld+json">{"@type":"ScholarlyArticle","headline":"High",'
    '"author":"Ann Wire","datePublished":"2023-03-03","pagination":"45-67","isPartOf":{"@type":"PublicationIssue",'
    '"issueNumber":3,"isPartOf":{"@type":["PublicationVolume","Periodical"],"name":"Journal","volumeNumber":12}}}'
    "</script>",
}


@pytest.mark.parametrize("source", PLACES.values(), ids=PLACES)
def test_the_place_in_a_journal_is_read_from_the_page(scrape: Scrape, at: At, source: str) -> None:
    formatted = scrape(at("http://www.host.example/a", source))["citation"]["formatted"]
    assert "Journal, 12(3), 45–67. http://www.host.example/a" in formatted["apa"]
    assert "Journal, vol. 12, no. 3, 3 Mar. 2023, pp. 45-67, " in formatted["mla"]
    assert "pages = {45--67}" in formatted["bibtex"]
