"""ferrule.lock has what packages bring that runs in ferrule itself, and what is new of that is told."""

import json

import pytest

from ferrule_testkit.machine import Finished, Machine

pytestmark = pytest.mark.process

CODE = "import os; os.environ.setdefault('A', 'b')\n"


@pytest.fixture
def locked(machine: Machine) -> Machine:
    """A machine with one tool and one `sitecustomize`, both locked."""
    machine.install("alpha")
    (machine.site / "usercustomize.py").write_text("")
    done = machine.ferrule("lock")
    assert done.code == 0
    assert "accepted usercustomize.py: usercustomize.py is a module which Python runs" in " ".join(done.out.split())
    config = machine.home / ".config/ferrule/config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text("locked = true\n")
    return machine


def states(shown: Finished) -> dict[str, str]:
    return {one["file"]: one["state"] for one in shown.document["parent_code"]}


def severities(machine: Machine) -> list[tuple[str, str, str]]:
    found = machine.ferrule("doctor", "--json").document["findings"]
    return [(one["id"], one["severity"], one["subject"]) for one in found if one["id"] == "code-at-start"]


@pytest.mark.slow
def test_what_runs_at_start_is_in_the_lock(locked: Machine) -> None:
    lock = json.loads((locked.home / ".config/ferrule/ferrule.lock").read_text())
    (found,) = lock["parent_code"]["files"].values()
    assert found["id"] == "code-at-start"
    assert found["digest"].startswith("sha256:")
    assert states(locked.ferrule("lock", "--check", "--json")) == {"usercustomize.py": "same"}
    assert severities(locked) == [("code-at-start", "warning", "usercustomize.py")]


@pytest.mark.slow
def test_a_new_file_is_told_until_it_is_accepted_by_its_name(locked: Machine) -> None:
    (locked.site / "evil.pth").write_text(CODE)
    shown = locked.ferrule("lock", "--check", "--json")
    assert (shown.code, states(shown)) == (1, {"evil.pth": "new", "usercustomize.py": "same"})
    assert ("code-at-start", "error", "evil.pth") in severities(locked)
    told = locked.ferrule("lock")
    assert told.code == 1
    assert "new evil.pth: evil.pth has a line of code" in told.out
    assert "ferrule lock --accept evil.pth" in told.err
    assert locked.ferrule("lock", "--accept", "alpha").code == 0  # which takes that tool alone
    assert locked.ferrule("lock", "--check").code == 1
    assert locked.ferrule("lock", "--accept", "evil.pth").code == 0
    assert states(locked.ferrule("lock", "--check", "--json"))["evil.pth"] == "same"


@pytest.mark.slow
def test_a_changed_file_and_one_that_is_gone_are_told(locked: Machine) -> None:
    (locked.site / "usercustomize.py").write_text("x = 1\n")
    shown = locked.ferrule("lock", "--diff")
    assert shown.code == 1
    assert "differs usercustomize.py" in shown.out
    assert "digest: sha256:" in shown.out
    (locked.site / "usercustomize.py").unlink()
    assert states(locked.ferrule("lock", "--check", "--json")) == {"usercustomize.py": "gone"}
    assert locked.ferrule("lock", "--accept", "*").code == 0
    assert "parent_code" not in json.loads((locked.home / ".config/ferrule/ferrule.lock").read_text())


def test_a_lock_changed_by_hand_is_refused(locked: Machine) -> None:
    path = locked.home / ".config/ferrule/ferrule.lock"
    path.write_text(path.read_text().replace('"code-at-start"', '"path-added"'))
    done = locked.ferrule("lock", "--check")
    assert done.code == 1
    assert "was changed by hand: what it says of parent_code does not fit its digest" in done.err
