"""A malicious tool gets nothing that it may not have, by whatever door it is called; innocent ones do not notice.

`tests/dists/hostile/attacks` is the table of what is tried. `ferrule_testkit.attacks` sets the scene and judges from
outside.
"""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from ferrule_testkit.attacks import trial
from ferrule_testkit.attacks.not_promised import BY_THE_KERNEL, NOT_PROMISED, OPEN, QUIET
from ferrule_testkit.attacks.runs import HELD, ORDINARY, OTHER, SECONDS, USERS, report

ATTACKS = trial.attacks()
# What is not there is refused by nobody.
NOT_THERE = {attack.name for attack in ATTACKS if attack.name.startswith("password_of_the_proxy")}
# Each of these may end its process, or is allowed something of its own, so it has a call of its own.
ALONE = [attack.name for attack in ATTACKS if attack.is_fatal or attack.grants]
ENDS_ITS_PROCESS = [attack.name for attack in ATTACKS if attack.is_fatal]
GOES_BEYOND = [attack.name for attack in ATTACKS if attack.grants]
WAYS = ("executable", "run", "kept", "stdio", "http", "ask")
"""Every way in which a tool is called."""
SHORT = ("executable",)
"""That by which whoever runs the tests makes the sample in every run. By each other way the ordinary user makes each
kind in the tier `slow`."""
TOGETHER = WAYS[:-1]
"""Those by which all attacks are made in one call, too: a model gets less of a long answer than that of all of them."""
OF_EACH_PROCESS = ("executable", "kept", "http")
"""Of those, one for each process that can make a call: one that ends with it, a keeper's, and a server's."""
IN_CALLS_OF_THEIR_OWN = 3
"""Of so many attacks that are made together, one is made in a call of its own, too; `full` makes all."""


def sample(way: str) -> list[str]:
    """One of each kind, another one by each way, and two that end their process or go beyond what is granted."""
    turn = WAYS.index(way)
    kinds = [[one.name for one in ATTACKS if one.kind == kind] for kind in trial.table.MODULES]
    several = [[name for name in names if name not in ALONE] or names for names in kinds]
    chosen = [names[turn % len(names)] for names in (*several, ENDS_ITS_PROCESS, GOES_BEYOND)]
    return list(dict.fromkeys(chosen))


def dealt(way: str) -> list[str]:
    """The attacks that the ordinary user makes by one way, each in a call of its own, which costs a third of a second.

    Each attack that cannot be among others in one call is made by one way, in turn. Of the others, which that user
    makes in one call as well, a third is: what one of them shows besides, how its refusal is told, is that of its kind.
    """
    turn = WAYS.index(way)
    chosen = []
    for is_alone, step in ((True, len(WAYS)), (False, IN_CALLS_OF_THEIR_OWN * len(WAYS))):
        for kind in trial.table.MODULES:
            names = [one.name for one in ATTACKS if one.kind == kind and (one.name in ALONE) == is_alone]
            chosen += names[turn::step]
    return chosen


def assert_unharmed(found: dict[str, Any]) -> None:
    """The healthy tools have answered before the attacks, and do the same after them."""
    example, vault = found["before"]
    assert "Hello, Oslo!" in example
    assert "fingerprint" in vault
    assert found["after"] == found["before"]


def assert_all_stopped_and_told(found: dict[str, Any], share: float = 0.85) -> None:
    """share: how many of them are told as a refusal; the others fail in a way that only the tool knows."""
    verdicts = found["verdicts"]
    through = {one["name"]: (one["damage"], one["text"]) for one in verdicts if one["is_through"]}
    assert {name: why for name, why in through.items() if why[0] != [OPEN.get(name)]} == {}
    told = {one["name"]: one["told"] for one in verdicts if one["name"] not in OPEN}
    assert {
        name: how for name, how in told.items() if how not in (trial.DENIED, trial.FAILED) and name not in QUIET
    } == {}
    refused = [how for name, how in told.items() if name not in NOT_THERE]
    assert sum(how == trial.DENIED for how in refused) >= share * len(refused)
    assert_unharmed(found)


def test_there_are_hundreds_of_attacks_and_each_says_what_it_tries() -> None:
    assert len(ATTACKS) >= 300
    assert [attack.name for attack in ATTACKS if len(attack.tries) < 12 or not attack.tries.endswith(".")] == []
    assert {*OPEN, *QUIET} <= {attack.name for attack in ATTACKS}


def test_each_attack_and_each_innocent_tool_is_an_entry_point() -> None:
    named = {attack.name for attack in ATTACKS} | {trial.SEVERAL}
    assert set(_entry_points(trial.HOSTILE / "attacks")) == named
    assert set(_entry_points(trial.INNOCENT)) == {one.name for one in trial.innocents()}


def test_the_page_on_trust_counts_the_attacks() -> None:
    page = _page_on_trust()
    assert f"{len(ATTACKS)} attacks" in page
    assert [name for name in OPEN if f"`{name}`" not in page] == []


@pytest.mark.parametrize("kind", NOT_PROMISED)
def test_the_page_on_trust_gives_the_reason_of_what_is_not_promised(kind: str) -> None:
    reason, names = NOT_PROMISED[kind]
    (told,) = [one for one in _page_on_trust().split("\n- ") if reason in " ".join(one.split())]
    assert [name for name in names if f"`{name}`" not in told] == []


def test_each_attack_that_gets_through_has_one_reason() -> None:
    covered = [name for _, names in NOT_PROMISED.values() for name in names]
    assert sorted(covered) == sorted(OPEN)


def test_the_samples_have_each_kind_by_each_way() -> None:
    kinds = {attack.name: attack.kind for attack in ATTACKS}
    assert [way for way in WAYS if {kinds[name] for name in sample(way)} != set(kinds.values())] == []
    assert len({name for way in WAYS for name in sample(way)}) >= 4 * len(trial.table.MODULES)


@pytest.mark.timeout(SECONDS)
@HELD
@pytest.mark.parametrize(
    "way", [pytest.param(way, marks=pytest.mark.process if way in SHORT else pytest.mark.full) for way in WAYS]
)
def test_attacks_of_each_kind_are_stopped_by_every_door(way: str) -> None:
    assert_all_stopped_and_told(report(way, *sample(way)), share=0.7)


def test_the_ordinary_user_makes_each_attack_that_wants_a_call_of_its_own_once_and_each_kind_by_every_door() -> None:
    kinds = {attack.name: attack.kind for attack in ATTACKS}
    by_way = {way: dealt(way) for way in WAYS}
    made = [name for names in by_way.values() for name in names]
    assert len(made) == len(set(made))
    assert set(ALONE) < set(made)
    assert IN_CALLS_OF_THEIR_OWN * len(set(made) - set(ALONE)) >= len(kinds) - len(ALONE)
    assert {way for way, names in by_way.items() if {kinds[name] for name in names} != set(kinds.values())} == set()


@pytest.mark.slow
@pytest.mark.timeout(SECONDS)
@HELD
@pytest.mark.parametrize("way", WAYS)
def test_attacks_in_calls_of_their_own_are_stopped_for_an_ordinary_user(way: str) -> None:
    assert_all_stopped_and_told(report(way, *dealt(way), user=ORDINARY), share=0.7)


@pytest.mark.full
@pytest.mark.timeout(SECONDS)
@HELD
@USERS
@pytest.mark.parametrize("way", WAYS)
def test_every_attack_is_stopped_by_every_door_for_every_user(way: str, user: str) -> None:
    assert_all_stopped_and_told(report(way, user=user))


@pytest.mark.timeout(SECONDS)
@HELD
@pytest.mark.parametrize(
    ("way", "user"),
    [
        *(
            pytest.param(way, ORDINARY, marks=pytest.mark.slow if way in OF_EACH_PROCESS else pytest.mark.full)
            for way in TOGETHER
        ),
        *(
            pytest.param(way, OTHER, marks=pytest.mark.slow if way == TOGETHER[0] else pytest.mark.full)
            for way in TOGETHER
        ),
    ],
)
def test_what_attacks_leave_in_their_process_helps_no_other_one(way: str, user: str) -> None:
    """All that neither end their process nor are allowed something, in one call."""
    together = {attack.name: attack for attack in ATTACKS if attack.name not in ALONE}
    found = report(way, "--together", *together, user=user)

    said = found["said"]
    assert set(said) == set(together)
    let_through = {
        name for name, attack in together.items() if attack.proof == trial.table.WORD and said[name].get("loot")
    }
    assert let_through == {name for name, why in OPEN.items() if why == BY_THE_KERNEL}
    assert set(found["damage"]) <= set(OPEN.values())
    assert_unharmed(found)


@pytest.mark.timeout(SECONDS)
@pytest.mark.parametrize(
    ("way", "user"),
    [
        pytest.param("executable", "me", marks=pytest.mark.slow),
        pytest.param("pool", "nobody", marks=pytest.mark.slow),
        pytest.param("executable", "nobody", marks=pytest.mark.full),
        pytest.param("pool", "me", marks=pytest.mark.full),
    ],
)
def test_innocent_tools_do_byte_for_byte_what_they_do_without_a_host(way: str, user: str) -> None:
    found = report(way, "--innocent", user=user)

    assert {name: said for name, said in found["innocent"].items() if said[0] != said[1]} == {}
    assert len(found["innocent"]) >= 20
    assert_unharmed(found)


def _page_on_trust() -> str:
    return (trial.HOSTILE.parents[2] / "docs/explanation/trust.md").read_text()


def _entry_points(distribution: Path) -> list[str]:
    project = tomllib.loads((distribution / "pyproject.toml").read_text())["project"]
    return list(project["entry-points"]["ferrule.tools"])
