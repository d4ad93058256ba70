"""A malicious package gets nothing before its call either: while it is imported, or by the hooks that say what it is.

`tests/dists/hostile/hooks` is the table of what is tried, and where. They are run by calls, and by the commands that
load what is installed.
"""

import tomllib
from typing import Any

import pytest

from ferrule_testkit import PROJECT
from ferrule_testkit.attacks import hooks
from ferrule_testkit.attacks.not_promised import OPEN_WHILE_IMPORTED, OPEN_WHILE_LOADED
from ferrule_testkit.attacks.runs import HELD, ORDINARY, SECONDS, USERS, report

ATTACKS = hooks.attacks()
# By way: the places that are heard of there. `validate` is asked in a call alone; schemas are shown where clients read
# them, and by commands that look at them.
HEARD = {
    "executable": {"importing", "schema", "credentials", "validate"},
    "run": {"importing", "credentials", "validate"},
    "kept": {"importing", "credentials", "validate"},
    "stdio": {"importing", "schema", "credentials", "validate"},
    "http": {"importing", "schema", "credentials", "validate"},
    "ask": {"importing", "schema", "credentials", "validate"},
    "list": {"importing", "schema", "credentials"},
    "doctor": {"importing", "credentials"},
    "validate": {"importing", "credentials"},
    "install": {"importing", "credentials"},
}
# All that stays, and of the others some of those that reach farthest.
SAMPLE = [
    one.name
    for one in ATTACKS
    if one.kind in ("", "keys", "network", "writing") and not one.name.endswith(("_2", "_3"))
]
EVERY_KIND = ("list", "install")
"""Where the ordinary user makes the sample and each kind in some place, by a look and before anybody has looked."""
CALLS = ("executable", "run", "kept", "stdio", "http", "ask")
OTHERS = (*CALLS, "doctor", "validate")
"""Where that user makes a part of the sample, since each attack is called, or looked at, by itself: what is not made by
a way is made by the ways beside it."""
PARTS = 4
FEW = [f"{place}_{what}" for place in hooks.table.PLACES for what in ("keys_1", "thread_that_goes_on")]


def assert_nothing_got(way: str, found: dict[str, Any], made: list[str]) -> None:
    """Each that is made where this way hears of it has been heard of, and none has got what is promised to be kept.

    Not heard of are those that were late, and those of which the host says that they were refused something.
    """
    heard = {name: tried for one in found["hooks"] for name, tried in one["tried"].items()}
    expected = {one.name for one in ATTACKS if one.name in made and one.place in HEARD[way]}
    late = sum(one["late"] for one in found["hooks"])
    missing = expected - set(heard) - {name for one in found["hooks"] for name in one["refused"]}
    assert len(missing) <= late, (missing, [one["text"] for one in found["hooks"]])
    assert [name for name, tried in heard.items() if not tried] == []
    assert {name: words for one in found["hooks"] for name, words in one["got"].items()} == {}
    assert {one["called"]: one["damage"] for one in found["hooks"] if one["damage"]} == {}
    assert found["after"] == found["before"]


def test_each_attack_in_a_hook_is_an_entry_point_and_says_what_it_tries() -> None:
    project = tomllib.loads((hooks.HOOKS / "pyproject.toml").read_text())["project"]
    assert set(project["entry-points"]["ferrule.tools"]) == {one.name for one in ATTACKS}
    assert [one.name for one in ATTACKS if not one.tries.endswith(".")] == []
    assert {one.place for one in ATTACKS} == set(hooks.table.PLACES)
    page = (PROJECT / "docs/explanation/trust.md").read_text()
    assert f"{len(ATTACKS)} tools" in page
    assert [name for name in (*OPEN_WHILE_IMPORTED, *OPEN_WHILE_LOADED) if f"`{name}`" not in page] == []


@pytest.mark.slow
@pytest.mark.timeout(SECONDS)
@HELD
@pytest.mark.parametrize(
    "way",
    [
        pytest.param("executable", marks=pytest.mark.process),
        # The ordinary user's are in the tier `slow`, which makes each kind by a look.
        pytest.param("list", marks=pytest.mark.full),
        pytest.param("stdio", marks=pytest.mark.full),
    ],
)
def test_hooks_get_nothing(way: str) -> None:
    assert_nothing_got(way, report(way, "--hooks", *FEW), FEW)


def chosen(way: str) -> list[str]:
    """The attacks that the ordinary user makes by a way."""
    if way in EVERY_KIND:
        heard = [one.name for one in ATTACKS if one.name not in SAMPLE and one.place in HEARD[way]]
        return [*SAMPLE, *heard[:: len(HEARD[way])]]  # the places have the same kinds, an odd number of them
    return SAMPLE[OTHERS.index(way) % PARTS :: PARTS]


def test_the_ordinary_user_makes_each_kind_the_sample_by_calls_and_each_place_by_every_way() -> None:
    assert {*EVERY_KIND, *OTHERS} == set(HEARD)
    assert {name for way in CALLS for name in chosen(way)} == set(SAMPLE)
    for way in EVERY_KIND:
        heard = [one for one in ATTACKS if one.name in chosen(way) and one.place in HEARD[way]]
        assert {one.kind for one in heard} == {one.kind for one in ATTACKS}
    for way in OTHERS:
        assert {one.place for one in ATTACKS if one.name in chosen(way)} == set(hooks.table.PLACES)


@pytest.mark.slow
@pytest.mark.timeout(SECONDS)
@HELD
@pytest.mark.parametrize("way", HEARD)
def test_no_place_before_a_call_gets_more_than_a_call(way: str) -> None:
    made = chosen(way)
    assert_nothing_got(way, report(way, "--hooks", *made, user=ORDINARY), made)


@pytest.mark.full
@pytest.mark.timeout(SECONDS)
@HELD
@USERS
@pytest.mark.parametrize("way", HEARD)
def test_no_user_gets_more_before_a_call_by_any_way(way: str, user: str) -> None:
    made = [one.name for one in ATTACKS] if way in EVERY_KIND else SAMPLE
    assert_nothing_got(way, report(way, "--hooks", *made, user=user), made)
