"""What changes beside a link: config.toml and what is installed. One link asks Python, and the others believe it."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ferrule.links import linked_executables
from ferrule_testkit.launcher import hide_launcher
from ferrule_testkit.machine import Finished, Machine

# What is written beside a link is the same whatever starts it, and each form is there in one tier.
pytestmark = [
    pytest.mark.process,
    pytest.mark.parametrize("link_form", ["launcher", pytest.param("shell", marks=pytest.mark.slow)], indirect=True),
]

NAMES = ("alpha", "beta", "gamma")
FUTURE = time.time() + 1_000_000


class LinkedMachine:
    """A machine with three linked tools, whose links note each start of the interpreter."""

    def __init__(self, machine: Machine, folder: Path) -> None:
        self.machine = machine
        self.config = machine.home / ".config" / "ferrule" / "config.toml"
        self.config.parent.mkdir(parents=True)
        self._log = folder / "starts"
        for name in NAMES:
            machine.install(name)
        assert machine.ferrule("link", *NAMES).code == 0
        python = folder / "python"
        python.write_text(f'#!/bin/sh\necho started >> {self._log}\nexec "{sys.executable}" "$@"\n')
        python.chmod(0o755)
        for name in NAMES:
            link = machine.tools / f"{name}-tool"
            times = (time.time(), link.stat().st_mtime)
            facts = linked_executables.read_facts(str(link))
            assert facts is not None
            link.write_text(link.read_text().replace(facts["python"], str(python)))
            os.utime(link, times)

    def ask_all(self) -> tuple[dict[str, Finished], int]:
        """The answers of all links to `--schema`, one after the other, and how often Python was started for them."""
        self._log.unlink(missing_ok=True)
        answers = {}
        for name in NAMES:
            command = [self.machine.tools / f"{name}-tool", "--schema"]
            done = subprocess.run(command, env=self.machine.environment, capture_output=True, check=False)
            answers[name] = Finished(done.returncode, done.stdout.decode(), done.stderr.decode())
        return answers, len(self._log.read_text().splitlines()) if self._log.exists() else 0


@pytest.fixture(autouse=True)
def form(link_form: str, machine: Machine) -> None:
    if link_form == "shell":
        hide_launcher(machine.site)


@pytest.fixture
def linked(form: None, machine: Machine, tmp_path: Path) -> LinkedMachine:
    linked = LinkedMachine(machine, tmp_path)
    linked.ask_all()  # importing the modules for the first time has changed their folder
    assert linked.ask_all()[1] == 0
    return linked


@pytest.mark.slow
@pytest.mark.parametrize("modified", [None, 1.0, FUTURE], ids=["now", "long-ago", "in-the-future"])
def test_an_edit_of_the_configuration_costs_one_start_of_python_and_makes_no_link_stale(
    linked: LinkedMachine, modified: float | None
) -> None:
    linked.config.write_text("[tools.alpha]\nmemory = 900\n")
    if modified:
        os.utime(linked.config, (modified, modified))
    answers, starts = linked.ask_all()
    assert starts == 1
    assert {(one.code, one.err) for one in answers.values()} == {(0, "")}
    assert linked.ask_all()[1] == 0
    stale = [one["id"] for one in linked.machine.hide_commands().ferrule("doctor", "--json").document["findings"]]
    assert "link-stale" not in stale


def test_a_tool_that_is_switched_off_and_on_again_is_hidden_meanwhile(linked: LinkedMachine) -> None:
    linked.config.write_text("[tools.beta]\nenabled = false\n")
    for _ in range(2):
        answers, starts = linked.ask_all()
        assert [answers[name].code for name in NAMES] == [0, 1, 0]
        assert "disabled by [tools.beta]" in answers["beta"].out
    assert starts == 1  # for the one tool that is off
    linked.config.unlink()
    answers, starts = linked.ask_all()
    assert ([one.code for one in answers.values()], starts) == ([0, 0, 0], 0)


def test_a_configuration_that_cannot_be_read_hides_all_tools_until_it_is_fixed(linked: LinkedMachine) -> None:
    linked.config.write_text("[tools\n")
    answers, _ = linked.ask_all()
    assert [(one.code, "is not TOML" in one.out) for one in answers.values()] == [(1, True)] * 3
    linked.config.write_text("")
    answers, starts = linked.ask_all()
    assert ([one.code for one in answers.values()], starts) == ([0, 0, 0], 1)


def test_a_name_that_is_claimed_twice_later_is_not_offered_until_the_other_claim_is_gone(linked: LinkedMachine) -> None:
    linked.machine.install("beta", distribution="another", module="module_another")
    answers, _ = linked.ask_all()
    assert [answers[name].code for name in NAMES] == [0, 1, 0]
    assert "claimed by another 1.0 and by dist-beta 1.0" in answers["beta"].out
    (linked.machine.site / "another-1.0.dist-info" / "entry_points.txt").unlink()
    (linked.machine.site / "another-1.0.dist-info").rename(linked.machine.home / "another")
    assert [one.code for one in linked.ask_all()[0].values()] == [0, 0, 0]
    assert linked.ask_all()[1] == 0


def test_marks_that_cannot_be_written_cost_time_and_nothing_else(linked: LinkedMachine) -> None:
    marks = linked.machine.home / ".local" / "state" / "ferrule" / "links"
    for mark in marks.iterdir():
        mark.unlink()
    marks.rmdir()
    marks.write_text("no folder")
    linked.config.write_text("[tools.beta]\nenabled = false\n")
    answers, starts = linked.ask_all()
    assert ([answers[name].code for name in NAMES], starts) == ([0, 1, 0], 3)
    assert all(one.err == "" for name, one in answers.items() if name != "beta")


@pytest.mark.parametrize(("doubt", "told"), [("", ""), ("/tools/alpha-tool", "out of date")], ids=["call", "stale"])
def test_a_link_that_an_earlier_version_wrote_still_works(machine: Machine, doubt: str, told: str) -> None:
    machine.install("alpha")
    code = "from ferrule.dispatch import run_linked; run_linked()"
    command = [sys.executable, "-c", code, "alpha", '{"alpha": "first"}', doubt, "--schema"]
    done = subprocess.run(command, env=machine.environment, capture_output=True, check=True)
    assert json.loads(done.stdout)["name"] == "first"
    assert told in done.stderr.decode()


def test_the_link_of_a_tool_that_is_held_prints_no_schema(machine: Machine) -> None:
    machine.install("alpha", permissions={"network": []})
    assert machine.ferrule("link", "alpha").code == 0
    link = [str(machine.tools / "alpha-tool"), "--schema"]
    machine.install("alpha", permissions={"network": ["example.org:443"]}, description="New words.")
    (machine.site / "dist_alpha-1.0.dist-info").rename(machine.site / "dist_alpha-2.0.dist-info")
    held = subprocess.run(link, env=machine.environment, capture_output=True, check=False)
    assert (held.returncode, b"New words" in held.stdout) == (1, False)
    assert b"asks for more than dist-alpha 1.0 did" in held.stderr + held.stdout
    assert machine.ferrule("permissions", "accept", "alpha").code == 0
    accepted = subprocess.run(link, env=machine.environment, capture_output=True, check=False)
    assert (accepted.returncode, json.loads(accepted.stdout)["description"]) == (0, "New words.")
