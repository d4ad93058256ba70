"""References, whatever their sources hold: keys, and files that programs for references can read."""

import pytest

from ferrule_research.page.metadata.authors import Name
from ferrule_research.page.metadata.dates import Date
from ferrule_research.page.metadata.reference import Reference, name_keys

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
