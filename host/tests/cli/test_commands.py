"""Commands of other distributions: found by their entry points, listed without an import, and broken ones told."""

import re
import subprocess
import sys

import pytest

from ferrule.cli.commands import BUILT_IN
from ferrule_testkit.entry_points import offer
from ferrule_testkit.machine import Machine

pytestmark = pytest.mark.process


GREET = '''"""Greet the user.

Not a line of help.
"""

import click


@click.command("greet")
@click.option("--loud", is_flag=True)
def command(loud: bool) -> int:
    """Greet."""
    click.echo("HELLO" if loud else "hello")
    return 3
'''
COMMANDS = "ferrule.commands"


def greet(machine: Machine, name: str = "greet", *, source: str = GREET, **more: str) -> None:
    offer(machine, COMMANDS, name, source, **more)


def completed(machine: Machine, word: str) -> list[str]:
    words = {"_FERRULE_COMPLETE": "bash_complete", "COMP_WORDS": f"ferrule {word}", "COMP_CWORD": "1"}
    return [line.removeprefix("plain,") for line in machine.ferrule(environment=words).out.splitlines()]


def test_a_command_is_run_and_returns_its_exit_code(machine: Machine) -> None:
    greet(machine)
    done = machine.ferrule("greet", "--loud")
    assert (done.code, done.out) == (3, "HELLO\n")
    assert machine.ferrule("greet", "--quiet").code == 2


def test_help_lists_it_with_the_first_line_of_its_module(machine: Machine) -> None:
    greet(machine)
    shown = machine.ferrule("--help").out
    (line,) = [line.split() for line in shown.splitlines() if "greet" in line]
    assert line == ["greet", "Greet", "the", "user."]
    assert "Not a line of help" not in shown


def test_listing_and_completing_import_no_command(machine: Machine) -> None:
    greet(machine, source=GREET + "\nprint('imported')\n")
    assert "imported" not in machine.ferrule("--help").out
    assert completed(machine, "gre") == ["greet"]
    assert "imported" in machine.ferrule("greet").out


def test_a_mistyped_command_is_told_with_the_one_that_was_meant(machine: Machine) -> None:
    greet(machine)
    done = machine.ferrule("gret")
    assert done.code == 2
    assert "No such command 'gret'. Did you mean 'greet'?" in done.err


BROKEN = [
    pytest.param("absent:command", GREET, "(ModuleNotFoundError: No module named 'absent')", id="none"),
    pytest.param("", "raise RuntimeError('no database')", "cannot be loaded (RuntimeError: no database)", id="raises"),
    pytest.param("", "import sys\nsys.exit(0)", "cannot be loaded (SystemExit: 0)", id="exits"),
    pytest.param("", "import asyncio\nraise asyncio.CancelledError", "cannot be loaded (CancelledError)", id="cancels"),
    pytest.param("", "x = " + 200_000 * "-" + "1", "cannot be loaded (MemoryError", id="nests"),
    pytest.param("", "def (", "cannot be loaded (SyntaxError: ", id="syntax"),
    pytest.param("", "command = print", "is not a click command", id="no command"),
    pytest.param("", "other = 1", "cannot be loaded (AttributeError: ", id="no attribute"),
    pytest.param("offer_bad", GREET, "is not a click command", id="no attribute named"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("value", "source", "reason"), BROKEN)
def test_a_broken_command_is_told_by_name_and_hurts_no_other(
    machine: Machine, value: str, source: str, reason: str
) -> None:
    greet(machine)
    greet(machine, "bad", source=source, value=value)
    done = machine.ferrule("bad")
    assert done.code == 1
    assert "The command 'bad' of dist-bad 1.0 cannot be used: " in done.err
    assert reason in done.err
    assert "Update or uninstall dist-bad; all other commands work." in done.err
    assert "Traceback" not in done.err
    assert machine.ferrule("greet").out == "hello\n"
    assert "Greet the user." in machine.ferrule("--help").out
    assert {*BUILT_IN, "bad", "greet"} <= set(completed(machine, ""))
    (finding,) = findings(machine)
    assert (finding["id"], finding["severity"], finding["subject"]) == ("command-broken", "error", "bad")
    assert "dist-bad 1.0" in finding["message"]


ENDS = [
    pytest.param("return 256", 1, "Error: The command has returned int, where", id="256"),
    pytest.param("return 'done'", 1, "Error: The command has returned str, where", id="text"),
    pytest.param("return None", 0, "", id="none"),
    pytest.param("raise SystemExit", 0, "", id="exits"),
    pytest.param("raise SystemExit(4)", 4, "", id="exits with a code"),
    pytest.param("raise SystemExit('no such page')", 1, "Error: no such page\n", id="exits with words"),
    pytest.param("raise click.ClickException('no such page')", 1, "Error: no such page\n", id="error of click"),
    pytest.param("raise click.exceptions.Exit(5)", 5, "", id="exit of click"),
    pytest.param("raise ValueError('no')", 1, "Error: The command 'greet' of dist-greet 1.0 failed with", id="raises"),
    pytest.param("raise BaseExceptionGroup('', [KeyboardInterrupt()])", 1, "Error: The command 'greet'", id="odd"),
    pytest.param("import sys; sys.stdout.close()", 0, "", id="closes its output"),
]


@pytest.mark.parametrize(("end", "code", "words"), ENDS)
def test_however_a_command_ends_that_is_an_exit_code_and_a_sentence(
    machine: Machine, end: str, code: int, words: str
) -> None:
    greet(machine, source=GREET.replace("    return 3\n", f"    {end}\n"))
    done = machine.ferrule("greet")
    assert done.code == code
    assert done.err.startswith(words)
    assert bool(done.err) == bool(words)
    assert "Traceback" not in done.err
    assert "defect of ferrule" not in done.err


@pytest.mark.slow
def test_a_name_of_the_host_is_not_given_away(machine: Machine) -> None:
    greet(machine, "list")
    assert machine.ferrule("list", "--help").out.startswith("Usage: ferrule list")
    assert machine.ferrule("--help").out.count("\n  list ") == 1
    (finding,) = findings(machine)
    assert (finding["id"], finding["severity"], finding["subject"]) == ("command-passed-over", "warning", "list")
    assert "dist-list 1.0 offers this command as well, but the name belongs to ferrule itself." in finding["message"]


@pytest.mark.slow
def test_of_two_distributions_that_claim_a_name_none_gets_it(machine: Machine) -> None:
    greet(machine)
    greet(machine, "bye")
    other = machine.home / "other"
    offer(machine, COMMANDS, "greet", GREET.replace("hello", "good day"), distribution="later", site=other)
    claimed = "The command 'greet' is claimed by dist-greet 1.0 and by later 1.0, so none of them gets it."
    for path in (f"{machine.environment['PYTHONPATH']}:{other}", f"{other}:{machine.environment['PYTHONPATH']}"):
        both = {"PYTHONPATH": path}
        done = machine.ferrule("greet", environment=both)
        assert (done.code, done.out) == (1, "")
        assert claimed in done.err
        assert machine.ferrule("bye", environment=both).out == "hello\n"
    assert "is claimed by dist-greet 1.0" in " ".join(machine.ferrule("--help", environment=both).out.split())
    (finding,) = findings(machine, both)
    assert (finding["id"], finding["severity"], finding["subject"]) == ("command-broken", "error", "greet")
    assert finding["message"] == claimed


def test_a_module_that_cannot_be_found_has_no_line_of_help(machine: Machine) -> None:
    greet(machine, value="absent:command")
    assert "(its module cannot be read)" in machine.ferrule("--help").out


def test_a_module_without_a_docstring_has_an_empty_line_of_help(machine: Machine) -> None:
    greet(machine, source="import click\ncommand = click.Command('greet')")
    assert re.search(r"^  greet *$", machine.ferrule("--help").out, re.MULTILINE)


def test_the_public_names_are_loaded_when_they_are_used() -> None:
    code = (
        "import sys, ferrule.cli as cli, ferrule.config as config\n"
        "early = {'click', 'ferrule.cli.output', 'ferrule.config.configuration'} & set(sys.modules)\n"
        "print(early, all(getattr(room, name) for room in (cli, config) for name in room.__all__))"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert printed.stdout == "set() True\n"


def findings(machine: Machine, environment: dict[str, str] | None = None) -> list[dict[str, str]]:
    """What `ferrule doctor` says of commands."""
    told = machine.ferrule("doctor", "--json", environment=environment).document["findings"]
    return [one for one in told if one["id"].startswith("command")]
