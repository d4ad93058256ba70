"""`ferrule keep`: the processes that keep tools ready between calls of their executables."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from ferrule.cli.output import counted, print_json, print_line, print_table, print_text
from ferrule.cli.selection import json_option
from ferrule.errors import FerruleError

if TYPE_CHECKING:
    from ferrule.calls.keeper.client import KeeperState


@click.group("keep")
def command() -> None:
    """Show and stop what keeps tools ready between calls.

    A tool that [keep] in config.toml names is loaded once, and a copy that waits makes the next call of its executable.
    The process that does so starts with the first call, and ends some minutes after the last one.

    \b
    Examples:
      ferrule keep status
      ferrule keep stop
    """


@command.command("status", short_help="List the keepers of this user, and what they have loaded.")
@json_option
def status(as_json: bool) -> int:
    """List the keepers of this user: for how long they run, the calls that they made, the tools that are loaded.

    \b
    Example: ferrule keep status --json

    Exit code: 1 where a keeper does not answer; 0 otherwise, also if none runs.
    """
    from ferrule.calls.keeper.client import find_keepers

    found = find_keepers(os.environ)
    if as_json:
        print_json({"keepers": [one.as_dict() for one in found]})
    elif not found:
        print_text("No keeper runs. One starts with the next call of a tool that [keep] in config.toml names.")
    else:
        print_table(("PROCESS", "STATE", "AGE", "IDLE", "CALLS", "TOOLS"), [_row(one) for one in found])
    return 0 if all(one.facts is not None for one in found) else 1


@command.command("start", short_help="Start the keeper of this environment.")
@json_option
def start(as_json: bool) -> int:
    """Start the keeper of this installation for calls with this environment, and wait until it listens.

    No call needs that: the first one starts it by itself, and does not wait.

    \b
    Example: ferrule keep start

    Exit code: 1 where it cannot be started; 0 otherwise, also where it runs already.
    """
    from ferrule.calls.keeper.client import start_keeper

    state = start_keeper()
    if as_json:
        print_json(state.as_dict())
    else:
        print_text(f"Process {state.process} listens on {state.path}.")
    return 0


@command.command("unit", short_help="Print units of systemd for a keeper.")
@click.option("--write", "is_written", is_flag=True, help="Write them where systemd looks for this user's.")
@json_option
def unit(is_written: bool, as_json: bool) -> int:
    """Print a socket and a service of systemd for the keeper of this installation, for calls with this environment.

    systemd listens then, and starts the keeper with the first call. One that has ended is started again by the next.

    \b
    Example: ferrule keep unit --write

    Exit code: 1 where they cannot be written; 0 otherwise.
    """
    from ferrule.calls.keeper.units import compose_units, write_units

    units = compose_units()
    paths = write_units(units, os.environ) if is_written else []
    if as_json:
        print_json({**units._asdict(), "written": paths})
    elif not paths:
        print_line(f"# {units.name}.socket\n{units.socket}\n# {units.name}.service\n{units.service}".rstrip())
    else:
        then = ["systemctl --user daemon-reload", f"systemctl --user enable --now {units.name}.socket"]
        print_line("\n".join([*paths, *then]))
    return 0


@command.command("stop", short_help="End the keepers of this user.")
@click.option("--process", "processes", type=int, multiple=True, metavar="NUMBER", help="End this one alone.")
@json_option
def stop(processes: tuple[int, ...], as_json: bool) -> int:
    """End all keepers of this user, whichever installation, environment and runtime folder they are for.

    Calls that run are finished; a keeper that does not answer is killed. `ferrule keep status` shows their processes.

    \b
    Examples:
      ferrule keep stop
      ferrule keep stop --process 4711

    Exit code: 1 where one could not be ended, or a process that is named is no keeper; 0 otherwise, also if none runs.
    """
    from ferrule.calls.keeper.client import find_keepers, stop_keeper

    found = [one for one in find_keepers(os.environ) if not processes or one.process in processes]
    if missing := [str(one) for one in processes if one not in {state.process for state in found}]:
        raise FerruleError(
            f"No keeper of this user is process {', '.join(missing)}.", hint="`ferrule keep status` lists them."
        )
    ended = [stop_keeper(one) for one in found]
    if as_json:
        rows = [{**one.as_dict(), "ended": is_ended} for one, is_ended in zip(found, ended, strict=True)]
        print_json({"keepers": rows})
    else:
        print_text(f"{counted(sum(ended), 'keeper')} ended." if found else "No keeper runs.")
        for one, is_ended in zip(found, ended, strict=True):
            if not is_ended:
                print_text(f"Process {one.process} has not ended: `kill -9 {one.process}`.")
    return 0 if all(ended) else 1


def _row(one: KeeperState) -> tuple[str, ...]:
    if one.facts is None:
        return str(one.process or ""), "silent", "", "", "", ""
    facts = one.facts
    age, idle = f"{facts['seconds']:.0f} s", f"{facts['idle_seconds']:.0f} s"
    state = "busy" if facts["running"] else "waits"
    return str(facts["process"]), state, age, idle, str(facts["calls"]), ", ".join(facts["tools"])
