"""`ferrule unlink`: it removes what `ferrule link` made, and nothing else."""

import shutil

import pytest

from ferrule_testkit.launcher import hide_launcher
from ferrule_testkit.machine import Machine

# What starts a link is tested in tests/executables; here one form is there in each tier.
pytestmark = [
    pytest.mark.process,
    pytest.mark.parametrize("link_form", ["launcher", pytest.param("shell", marks=pytest.mark.slow)], indirect=True),
]


@pytest.fixture(autouse=True)
def form(link_form: str, machine: Machine) -> None:
    if link_form == "shell":
        hide_launcher(machine.site)


def test_a_link_is_removed_by_the_tools_name_or_by_its_own(machine: Machine) -> None:
    machine.install("alpha")
    machine.ferrule("link", "alpha", "--as", "first")
    machine.ferrule("link", "alpha", "--as", "second")
    removed = machine.ferrule("unlink", "first")
    assert (removed.code, removed.out) == (0, "removed ~/.ikigai/tools/first-tool\n")
    machine.ferrule("link", "alpha")
    assert machine.ferrule("unlink", "alpha").code == 0
    assert list(machine.tools.iterdir()) == []


def test_a_tool_that_is_not_installed_any_more_is_unlinked(machine: Machine) -> None:
    machine.install("alpha")
    machine.ferrule("link", "alpha")
    shutil.rmtree(machine.site)
    assert machine.ferrule("unlink", "alpha").code == 0
    assert list(machine.tools.iterdir()) == []


def test_all_removes_every_link_and_leaves_everything_else(machine: Machine) -> None:
    machine.install("alpha")
    machine.install("beta")
    machine.ferrule("link", "alpha", "beta", "--to", "tools")
    (machine.work / "tools" / "gamma-tool").write_text("#!/bin/sh\n# ferrule link: {}\n")
    removed = machine.ferrule("unlink", "--all", "--from", "tools", "--json")
    assert removed.code == 0
    assert [one["tool"] for one in removed.document["links"]] == ["alpha", "beta"]
    assert [path.name for path in (machine.work / "tools").iterdir()] == ["gamma-tool"]


def test_what_is_not_linked_is_a_failure_and_the_others_are_removed(machine: Machine) -> None:
    machine.install("alpha")
    machine.ferrule("link", "alpha")
    removed = machine.ferrule("unlink", "beta", "alpha")
    assert removed.code == 1
    assert removed.out == "refused beta: It is not linked in ~/.ikigai/tools.\nremoved ~/.ikigai/tools/alpha-tool\n"


def test_a_file_that_ferrule_did_not_write_stays(machine: Machine) -> None:
    machine.tools.mkdir(parents=True)
    (machine.tools / "alpha-tool").touch()
    refused = machine.ferrule("unlink", "alpha")
    assert refused.code == 1
    assert "was not written by ferrule, so it stays" in refused.out
    assert (machine.tools / "alpha-tool").exists()


def test_it_is_said_what_to_remove(machine: Machine) -> None:
    assert machine.ferrule("unlink").code == 2
    assert machine.ferrule("unlink", "alpha", "--all").code == 2
