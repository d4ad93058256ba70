"""`ferrule completion`, and what the scripts then ask for."""

import subprocess

import pytest

from ferrule_testkit.machine import Machine

pytestmark = pytest.mark.process


def completed(machine: Machine, words: str) -> list[str]:
    """What bash would offer for the last of the words."""
    environment = {
        "_FERRULE_COMPLETE": "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split(" ")) - 1),
    }
    shown = machine.ferrule(environment=environment)
    return [line.partition(",")[2] for line in shown.out.splitlines()]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_a_script(machine: Machine, shell: str) -> None:
    script = machine.ferrule("completion", shell)
    assert script.code == 0
    assert f"_FERRULE_COMPLETE={shell}_complete" in script.out
    assert machine.ferrule("completion", shell, "--json").document["script"] in script.out


def test_the_script_for_bash_is_one(machine: Machine) -> None:
    script = machine.ferrule("completion", "bash").out
    subprocess.run(["bash", "-n"], input=script, text=True, check=True)


def test_another_shell_is_a_usage_error(machine: Machine) -> None:
    assert machine.ferrule("completion", "tcsh").code == 2


@pytest.mark.parametrize("command", ["show", "run", "validate", "link", "credentials show", "credentials set"])
def test_the_names_of_tools_are_completed_without_importing_a_plugin(machine: Machine, command: str) -> None:
    marker = machine.work / "imported"
    machine.install("almanac", top=f"open({str(marker)!r}, 'w').close()", static=False)
    assert completed(machine, f"ferrule {command} alm") == ["almanac"]
    assert not marker.exists()


def test_unlink_completes_what_is_linked(machine: Machine) -> None:
    machine.install("almanac")
    machine.ferrule("link", "almanac", "--as", "lookup")
    assert completed(machine, "ferrule unlink loo") == ["lookup"]


def test_commands_options_and_ids_are_completed(machine: Machine) -> None:
    assert completed(machine, "ferrule va") == ["validate"]
    assert completed(machine, "ferrule list --ch") == ["--check"]
    assert "unused-format" in completed(machine, "ferrule validate --silence unused-f")
