"""References, whatever their sources hold: keys, and files that programs for references can read."""

import pytest

from ferrule_research.page.metadata.authors import Name
from ferrule_research.page.metadata.bibtex import write_entry
from ferrule_research.page.metadata.dates import Date
from ferrule_research.page.metadata.reference import Reference, name_keys
from ferrule_research.page.metadata.ris import write_record

pytestmark = pytest.mark.process

YEAR = Date(2020)


def test_a_key_with_a_letter_behind_it_is_not_that_of_another_reference() -> None:
    titles = ["Deep", "Deep", "Deepa", "Deepa", "Deepb", "Deep"]
    found = name_keys([Reference(title, [Name("Ek", "Ann")], YEAR) for title in titles])
    keys = [one.key for one in found]
    assert len(set(keys)) == len(keys)
    assert [one.title for one in found] == titles
    assert keys[0] == "ek2020deep"
    assert keys[2] == "ek2020deepa"


@pytest.mark.parametrize(
    ("name", "written"),
    [
        (Name("Black and White", "Ann"), "{Black and White}, Ann"),
        (Name("Rain, Inc", "Bo"), "{Rain, Inc}, Bo"),
        (Name("Ek", "Ann, Lady"), "Ek, {Ann, Lady}"),
        (Name("Ek", "Ann AND Bo", "Jr."), "Ek, Jr., {Ann AND Bo}"),
        (Name("Andersen", "Alexandra"), "Andersen, Alexandra"),
        (Name("WHO and others", literal=True), "{WHO and others}"),
        (Name("", "Jane"), "{Jane}"),
    ],
)
def test_a_name_of_bibtex_is_one_name_in_its_parts(name: Name, written: str) -> None:
    (reference,) = name_keys([Reference("T", [name, Name("Day", "Cy")], YEAR)])
    assert f"  author = {{{written} and Day, Cy}},\n" in write_entry(reference)


def test_a_name_of_ris_is_cut_at_its_own_commas_alone() -> None:
    (reference,) = name_keys([Reference("T", [Name("Rain, Inc", "Bo"), Name("", "Jane")], YEAR)])
    assert [line for line in write_record(reference).split("\n") if line.startswith("AU")] == [
        "AU  - Rain Inc, Bo",
        "AU  - Jane",
    ]
    assert reference.as_csl()["author"] == [{"family": "Rain, Inc", "given": "Bo"}, {"literal": "Jane"}]
