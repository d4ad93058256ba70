"""A malicious tool gets nothing that it may not have, by whatever door it is called; innocent ones do not notice.

`tests/dists/hostile/attacks` is the table of what is tried. `ferrule_testkit.attacks` sets the scene and judges from
outside.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ferrule import confinement
from ferrule_testkit.attacks import ordinary_user, trial

ATTACKS = trial.attacks()
_BY_THE_KERNEL = "was let through by the kernel"
# What a tool can still learn, and the only damage that it may do so.
OPEN = {
    "connections_of_the_machine": _BY_THE_KERNEL,
    "existence_of_a_secret": _BY_THE_KERNEL,
    "key_in_own_memory": "stole the secret setting",
    "secret_in_a_links_target": "stole the secret link",
    "size_of_a_secret": _BY_THE_KERNEL,
    "size_of_a_secret_by_a_descriptor": _BY_THE_KERNEL,
    "sockets_of_the_machine": _BY_THE_KERNEL,
}
# By class: the sentence of docs/explanation/trust.md that does not promise it, and those of OPEN that it covers.
NOT_PROMISED = {
    "facts of files": (
        "Landlock has no right that covers them.",
        ("existence_of_a_secret", "secret_in_a_links_target", "size_of_a_secret", "size_of_a_secret_by_a_descriptor"),
    ),
    "sockets of the machine": (
        "`/proc/self` is open, and Landlock cannot leave out a folder below one that it opens.",
        ("connections_of_the_machine", "sockets_of_the_machine"),
    ),
    "settings of other tools": (
        "The process of a call is a copy of one that has read `config.toml`.",
        ("key_in_own_memory",),
    ),
}
# What is stopped without an error that could be told: it has no effect, or what it leaves is removed afterwards.
QUIET = {
    "answer_by_its_own_descriptors",
    "copies_that_stay",
    "copy_that_stays",
    "file_in_its_temporary_folder",
    "file_in_shared_memory",
    "shared_memory_left",
    "shared_memory_that_stays",
    "signal_by_a_pipe",
    "temporary_folder_replaced",
}
# What is not there is refused by nobody.
NOT_THERE = {attack.name for attack in ATTACKS if attack.name.startswith("password_of_the_proxy")}
SECONDS = 600.0
# Each of these may end its process, or is allowed something of its own, so it has a call of its own.
ALONE = [attack.name for attack in ATTACKS if attack.is_fatal or attack.grants]
USERS = pytest.mark.parametrize("user", ["me", "nobody"])
HELD = pytest.mark.skipif(
    bool(confinement.support().missing),
    reason="elsewhere: this kernel lacks " + ", ".join(confinement.support().missing),
)


@pytest.fixture
def folder() -> Iterator[Path]:
    """An empty folder with a short path, since paths of sockets are short."""
    path = Path(tempfile.mkdtemp(prefix="f"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path, ignore_errors=True)


def report(way: str, folder: Path, *names: str, user: str = "me") -> dict[str, Any]:
    """What came of attacks through one way, in a process of its own, so that they can do nothing to this one."""
    scene = folder / "s"
    scene.mkdir()
    command = ["-m", "ferrule_testkit.attacks", way, str(scene), *names]
    if user == "nobody":
        if os.geteuid():
            pytest.skip("only root can be somebody else")
        os.chown(scene, ordinary_user.NOBODY, ordinary_user.NOBODY)
        done = ordinary_user.run(command, folder, seconds=SECONDS)
    else:
        done = subprocess.run(
            [sys.executable, *command],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            start_new_session=True,
            timeout=SECONDS,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads((scene / "report.json").read_text())
    return found


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


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.timeout(SECONDS)
@HELD
@pytest.mark.parametrize("way", ["executable", "serve"])
def test_attacks_that_end_their_process_or_go_beyond_what_they_may_are_stopped(way: str, folder: Path) -> None:
    assert_all_stopped_and_told(report(way, folder, *ALONE), share=0.75)


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.timeout(SECONDS)
@HELD
@pytest.mark.parametrize("way", ["executable", "serve"])
def test_what_attacks_leave_in_their_process_helps_no_other_one(way: str, folder: Path) -> None:
    """All that neither end their process nor are allowed something, in one call."""
    together = {attack.name: attack for attack in ATTACKS if attack.name not in ALONE}
    found = report(way, folder, "--together", *together)

    said = found["said"]
    assert set(said) == set(together)
    let_through = {
        name for name, attack in together.items() if attack.proof == trial.table.WORD and said[name].get("loot")
    }
    assert let_through == {name for name, why in OPEN.items() if why == _BY_THE_KERNEL}
    assert set(found["damage"]) <= set(OPEN.values())
    assert_unharmed(found)


@pytest.mark.slow
@pytest.mark.timeout(SECONDS)
@HELD
@USERS
@pytest.mark.parametrize("way", ["executable", "run", "serve", "ask"])
def test_every_attack_is_stopped_by_every_door_for_every_user(way: str, user: str, folder: Path) -> None:
    assert_all_stopped_and_told(report(way, folder, user=user))


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.timeout(SECONDS)
@USERS
@pytest.mark.parametrize("way", ["executable", "serve"])
def test_innocent_tools_do_byte_for_byte_what_they_do_without_a_host(way: str, user: str, folder: Path) -> None:
    found = report(way, folder, "--innocent", user=user)

    assert {name: said for name, said in found["innocent"].items() if said[0] != said[1]} == {}
    assert len(found["innocent"]) >= 20
    assert_unharmed(found)


def _page_on_trust() -> str:
    return (trial.HOSTILE.parents[2] / "docs/explanation/trust.md").read_text()


def _entry_points(distribution: Path) -> list[str]:
    project = tomllib.loads((distribution / "pyproject.toml").read_text())["project"]
    return list(project["entry-points"]["ferrule.tools"])
