"""Each row of the table of promises names a command that works, and that shows what the row says."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from ferrule_testkit import PROJECT

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferrule_testkit.machine import Finished, Machine

PAGE = PROJECT / "docs/explanation/trust.md"
DECLARED = {"network": ["api.example.com:443"], "read": []}


def commands() -> list[str]:
    """The last cell of each row."""
    table = PAGE.read_text().partition("| promise |")[2].partition("\n\n")[0]
    return re.findall(r"\| `ferrule ([^`]+)` \|$", table, re.MULTILINE)


# By the command: what its output says of a machine that has the tool `probe`.
SHOWN: dict[str, Callable[[Finished], bool]] = {
    "permissions": lambda done: "probe" in done.out and "api.example.com" in done.out,
    "doctor": lambda done: done.code in (0, 1) and bool(done.out),
    "log --denied": lambda done: done.code == 0 and "secret.txt" in done.out,
    "list --check": lambda done: done.code == 0 and "probe" in done.out,
    "credentials": lambda done: done.code == 0,
    "lock --check": lambda done: "lock" in done.out + done.err,
    "check TOOL": lambda done: "probe" in done.out,
}


def test_each_promise_has_a_command_that_a_test_runs() -> None:
    assert commands() == list(SHOWN)


@pytest.mark.process
def test_each_command_shows_what_its_row_says(machine: Machine) -> None:
    folder = machine.home / ".config" / "ferrule"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text("[journal]\nenabled = true\n")
    secret = machine.home / "secret.txt"
    secret.write_text("open-sesame")
    machine.install(
        "probe",
        properties={},
        execute=f"try: open({str(secret)!r})\n    except OSError: pass\n    return {{}}",
        permissions=DECLARED,
    )
    assert machine.ferrule("run", "probe", "{}").code == 0
    for command, is_shown in SHOWN.items():
        done = machine.ferrule(*command.replace("TOOL", "probe").split())
        assert "Traceback" not in done.out + done.err, command
        assert is_shown(done), (command, done)
