"""Every two settings of a machine, with every way of calling a tool and every kind of result, in one table."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import combinations, product

import pytest

from ferrule_testkit.pairs import ways
from ferrule_testkit.pairs.household import Household, Premises
from ferrule_testkit.pairs.oracle import Oracle
from ferrule_testkit.pairs.table import FACTORS, FILE, FORCED, SERVED, Row, are_apart, rows, rows_without_state
from ferrule_testkit.runs import wait_until_gone

_ROWS = rows()


@pytest.fixture(scope="session")
def premises() -> Iterator[Premises]:
    made = Premises()
    yield made
    made.remove()


def test_every_two_values_that_can_be_together_are() -> None:
    assert set(FORCED) <= set(_ROWS)
    assert not [row for row in _ROWS if are_apart(row._asdict())]
    together = {pair for row in _ROWS for pair in combinations(row._asdict().items(), 2)}
    for (one, values), (other, others) in combinations(FACTORS.items(), 2):
        for pair in product([(one, value) for value in values], [(other, value) for value in others]):
            assert pair in together or are_apart(dict(pair)), f"{pair}; UPDATE_DOCS=1 makes the rows anew"


@pytest.mark.process
def test_the_rows_are_those_that_the_factors_give() -> None:
    from ferrule_testkit.pairs.generation import generate  # which imports much

    generated = generate()
    if os.environ.get("UPDATE_DOCS"):
        FILE.write_text(generated)
    assert FILE.read_text() == generated, "UPDATE_DOCS=1 makes the rows anew"


@pytest.mark.slow
@pytest.mark.parametrize("row", _ROWS, ids=[row.id for row in _ROWS])
def test_a_call_answers_as_documented(row: Row, premises: Premises) -> None:
    check(row, premises)


@pytest.mark.slow
@pytest.mark.parametrize("row", rows_without_state(), ids=lambda row: f"{row.way}-{row.kind}-{row.state}")
def test_a_call_answers_where_nothing_can_be_stored(row: Row, premises: Premises) -> None:
    check(row, premises)


def check(row: Row, premises: Premises) -> None:
    """Set a machine up, make the call, twice where that may differ, and hold what came against what is documented."""
    if row.user == "nobody" and os.geteuid():
        pytest.skip("only root can be somebody else")
    household = Household(premises, row)
    try:
        is_kept = row.way in SERVED or household.has_wrapper("cache")
        Oracle(household).check(ways.call(household, 2 if is_kept else 1))
        wait_until_gone(household.mark)
    finally:
        household.remove()
