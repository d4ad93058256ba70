"""Every subcommand of `ferrule` where a user is: from wheels, without extras, by each installer and each Python."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from ferrule.cli.commands import BUILT_IN

if TYPE_CHECKING:
    from ferrule_testkit.installation.environment import Done, Installation

pytestmark = [pytest.mark.installed, pytest.mark.index, pytest.mark.timeout(900)]

# Each with the exit code that its help says; {tool} is a tool that is installed. All leave what the next one needs.
RUNS = [
    ("list", 0),
    ("list --json", 0),
    ("list --check", 0),
    ("show {tool}", 0),
    ("validate", 0),
    ("validate --strict {tool}", 0),
    ("schema {tool}", 1),
    ("schemas --for openai", 0),
    ("run {tool} --dry-run {{}}", 1),
    ("link {tool}", 0),
    ("unlink {tool}", 0),
    ("lock", 0),
    ("lock --check", 0),
    ("log", 0),
    ("log --summary --since 1d", 0),
    ("credentials", 0),
    ("permissions", 0),
    ("permissions {tool}", 0),
    ("cache show", 0),
    ("cache clear --expired", 0),
    ("doctor", 0),
    ("install", 2),
    ("uninstall", 2),
    ("uninstall ferrule", 1),
    ("completion bash", 0),
]
# Of these, the commands that look at every distribution, which one plugin alone can break, each in one form.
LOOK_AT_ALL = {
    *(
        "list --check",
        "validate",
        "schemas --for openai",
        "link {tool}",
        "lock",
        "credentials",
        "permissions",
        "doctor",
    ),
}
RUNS_OF_PLUGINS = {
    "check": [("check --quick {tool}", 0)],
    "new": [("new tea", 0)],
    "serve": [("connect", 0), ("connect cursor --print", 0), ("serve --http nowhere", 2)],
    "ask": [("ask", 2), ("ask question --plan --no-tools", 0)],
}
MISSING = {"schema": "ferrule[schema]", "serve": "ferrule-serve[metrics]"}  # what an extra alone brings


def sound(done: Done, command: str, code: int) -> None:
    """A sentence or an answer, and the exit code that is documented: never a traceback."""
    shown = f"`ferrule {command}` ended with {done.code}:\n{done.out[-3000:]}\n{done.err[-3000:]}"
    assert "Traceback" not in done.out + done.err, shown
    assert "defect" not in done.err, shown
    assert "No module named" not in done.out + done.err, shown
    assert done.code == code, shown


def added(user: Installation) -> list[str]:
    """The commands of plugins."""
    shown = user.ferrule("--help").out.partition("Commands of installed distributions:")[2]
    return re.findall(r"^  (\w+)  ", shown, re.MULTILINE)


def test_the_commands_that_look_at_all_are_among_those_that_are_run() -> None:
    assert {line for line, _ in RUNS} > LOOK_AT_ALL


def run_all(user: Installation) -> None:
    """Each command in turn, with a tool that needs no key; beside one plugin, those that look at all there is."""
    is_one = len(user.recipe.plugins) == 1
    tool = "example" if "example" in user.tools() else "artifact_read"
    runs = [run for run in RUNS if not is_one or run[0] in LOOK_AT_ALL]
    commands = [*runs, *(run for name in added(user) for run in RUNS_OF_PLUGINS.get(name, []))]
    for line, code in commands:
        command = line.format(tool=tool)
        sound(user.ferrule(*command.split()), command, code)


def test_every_command_has_a_help(alone: Installation) -> None:
    names = added(alone)
    has_plugins = bool(alone.recipe.plugins)
    for name in names if has_plugins else [*BUILT_IN, *names]:
        sound(alone.ferrule(name, "--help"), f"{name} --help", 0)


def test_every_command_runs_beside_each_plugin_alone(alone: Installation) -> None:
    run_all(alone)


def test_every_command_runs_where_all_is_installed(together: Installation) -> None:
    assert {"ask", "bundle", "check", "connect", "disconnect", "new", "serve"} <= set(added(together))
    run_all(together)


def test_doctor_finds_nothing_broken_and_names_what_an_extra_would_bring(together: Installation) -> None:
    findings = together.ferrule("doctor", "--json").document["findings"]
    assert [one for one in findings if one["severity"] == "error"] == []
    lines = [one["fix"] for one in findings if one["id"] == "module-missing" and one["severity"] == "note"]
    for requirement in MISSING.values():
        assert any(requirement in line for line in lines), lines


def test_what_an_extra_would_bring_is_asked_for_with_its_line(together: Installation) -> None:
    done = together.ferrule("serve", "--http", "127.0.0.1:0", "--metrics")
    sound(done, "serve --metrics", 1)
    assert "ferrule install 'ferrule-serve[metrics]'" in done.err
    (together.work / "tea.py").write_text(
        'from ferrule import tool\n\n\n@tool\ndef tea(cups: int) -> dict:\n    """Makes tea."""\n    return {}\n'
    )
    done = together.ferrule("schema", "tea.py")
    sound(done, "schema tea.py", 1)
    assert "ferrule[schema]" in done.err
    done = together.ferrule("cache", "show", environ={"FERRULE_REDIS": "redis://127.0.0.1:1/0"})
    assert "Traceback" not in done.err
    assert "ferrule[redis]" in done.out + done.err
