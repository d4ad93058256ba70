"""Every two settings of a machine, with every way of calling a tool and every kind of result, in one table."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import combinations, product
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from ferrule.links.launchers import find_launcher
from ferrule_testkit.keeper import WITHOUT_LAUNCHER
from ferrule_testkit.pairs import ways
from ferrule_testkit.pairs.household import Household, Premises
from ferrule_testkit.pairs.oracle import Oracle
from ferrule_testkit.pairs.table import FACTORS, FILE, FORCED, PLAIN, SERVED, Row, are_apart, rows, rows_without_state
from ferrule_testkit.runs import wait_until_gone

_ROWS = rows()
# By a linked executable, on each machine that has a config.toml in which tools can be kept. The interpreter of ordinary
# users has no launcher.
_KEPT = list(
    dict.fromkeys(
        row._replace(way="link", stdin="pipe") for row in _ROWS if row.has_own_configuration and row.user == "self"
    )
)


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


@pytest.mark.slow
@pytest.mark.parametrize("row", _KEPT, ids=[row.id for row in _KEPT])
def test_a_call_that_a_keeper_makes_answers_as_documented(row: Row, premises: Premises) -> None:
    if not find_launcher():
        pytest.skip(WITHOUT_LAUNCHER)
    with machine(row, premises) as household, kept(household) as read_calls:
        times = 2 if household.has_wrapper("cache") else 1
        Oracle(household).check(ways.call(household, times))
        assert read_calls() == times


@contextmanager
def kept(household: Household) -> Iterator[Callable[[], int]]:
    """A keeper for the calls of a machine; it gives how many it has made."""
    add(household, '[keep]\ntools = ["*"]\n')

    def keep(*words: str) -> list[dict[str, Any]]:
        done = household.run([*household.ferrule, "keep", *words, "--json"])
        assert done.returncode == 0, done.stdout + done.stderr
        found: list[dict[str, Any]] = json.loads(done.stdout).get("keepers", [])
        return [one for one in found if one["socket"].startswith(folder)]

    with TemporaryDirectory(prefix="f-") as folder:  # a short path, as a socket has to have
        household.environment["XDG_RUNTIME_DIR"] = folder
        keep("start")
        try:
            yield lambda: sum(one["calls"] for one in keep("status"))
        finally:
            for one in keep("status"):  # and no other one of this user
                keep("stop", "--process", str(one["process"]))


def unreadable(household: Household) -> None:
    household.config.chmod(0)


def malformed(household: Household) -> None:
    household.config.write_text("[tools\n")


def disabled(household: Household) -> None:
    add(household, f"[tools.{household.row.tool}]\nenabled = false\n")


def without_lock(household: Household) -> None:
    household.config.write_text("locked = true\n" + household.config.read_text())


def malformed_permissions(household: Household) -> None:
    add(household, f"[tools.{household.row.tool}.permissions]\nnetwork = 7\n")


def malformed_isolation(household: Household) -> None:
    add(household, '[permissions]\nisolation = "much"\n')


def held(household: Household) -> None:
    """The record says that an earlier version asked for less."""
    assert household.run([*household.ferrule, "run", household.row.tool, "city=Oslo"]).returncode == 0
    (record,) = (household.state / "permissions").glob(f"*{household.row.tool}*")
    known = json.loads(record.read_text())
    known["permissions"] = {**known["permissions"], "network": []}
    record.write_text(json.dumps(known))


REFUSALS: dict[Callable[[Household], None], str] = {
    unreadable: "config.toml cannot be read: Permission denied",
    malformed: "config.toml is not TOML",
    disabled: "is disabled by [tools.",
    without_lock: "ferrule.lock, by which tools are locked",
    malformed_permissions: "cannot be read: network is no list of texts",
    malformed_isolation: "isolation is not",
    held: "asks for more than",
}


def each_refusal() -> Iterator[Any]:
    """Each reason by each way: in every run each reason by two of them, and each way once at least.

    What refuses is the same in every process, and each way puts every reason into the same place of its answer.
    """
    ways_of_calling = FACTORS["way"]
    for number, (prepare, way) in enumerate(product(REFUSALS, ways_of_calling)):
        turn = number // len(ways_of_calling)
        is_usual = (ways_of_calling.index(way) - turn) % (len(ways_of_calling) // 2) == 0
        marks = [] if is_usual else [pytest.mark.full]
        yield pytest.param(prepare, way, id=f"{prepare.__name__}-{way}", marks=marks)


@pytest.mark.slow
@pytest.mark.parametrize(("prepare", "way"), list(each_refusal()))
def test_why_a_tool_cannot_be_called_is_told(
    prepare: Callable[[Household], None], way: str, premises: Premises
) -> None:
    row = PLAIN._replace(way=way, config="own", credentials="file", wrappers="timing", form="hooks")
    if prepare is unreadable and os.geteuid() == 0:  # who can read everything
        row = row._replace(user="nobody")
    with machine(row, premises) as household:
        prepare(household)
        Oracle(household).check_refusal(ways.call(household, 1), REFUSALS[prepare])


def add(household: Household, table: str) -> None:
    household.config.write_text(household.config.read_text() + f"\n{table}")


def check(row: Row, premises: Premises) -> None:
    """Make the call of a row, twice where that may differ, and hold what came against what is documented."""
    with machine(row, premises) as household:
        is_kept = row.way in SERVED or household.has_wrapper("cache")
        Oracle(household).check(ways.call(household, 2 if is_kept else 1))


@contextmanager
def machine(row: Row, premises: Premises) -> Iterator[Household]:
    """A machine as the row says, on which nothing may be left running."""
    if row.user == "nobody" and os.geteuid():
        pytest.skip("only root can be somebody else")
    household = Household(premises, row)
    try:
        yield household
        wait_until_gone(household.mark)
    finally:
        household.remove()
