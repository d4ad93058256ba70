"""`ferrule list`: which tools are installed, and in which state each is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ferrule.admin.inventory import CLASH, DISABLED, OK, UNCHECKED, Entry
from ferrule.admin.wrapper_status import BROKEN, WrapperStatus, statuses
from ferrule.cli.output import plain, print_json, print_table
from ferrule.cli.selection import entries, json_option
from ferrule.config import configuration

if TYPE_CHECKING:
    from ferrule.admin.program_status import ProgramStatus
    from ferrule.config.configuration import Configuration

_USABLE_STATES = (OK, UNCHECKED, DISABLED)


@click.command("list")
@click.option("--check", is_flag=True, help="Load each plugin, in a process of its own, and check its schema.")
@json_option
def command(check: bool, as_json: bool) -> int:
    """List the installed tools: name, state, distribution, and what it does or why it cannot; then the wrappers.

    With --check also the programs that tools need: which was found, and its version. Without --check nothing of a
    plugin is imported, and a tool that may be well is `unchecked`. The other states are `ok`, `broken`, `clash`,
    `invalid` and `disabled`. A wrapper is `on`, `off`, or `broken`, on or not.

    \b
    Example: ferrule list --check --json

    Exit code: 1 where --check finds a tool that is broken, invalid or in a clash, or a wrapper that is broken; 0
    otherwise.
    """
    found = list(entries((), load=check))
    settings = configuration.read()
    wrappers = statuses(settings, load=check)
    programs = _programs(found, settings) if check else []
    if as_json:
        listed = {"tools": [entry.as_dict() for entry in found], "wrappers": [one.as_dict() for one in wrappers]}
        print_json({**listed, "programs": [one.as_dict() for one in programs]} if check else listed)
    elif found:
        headings = ("TOOL", "STATE", "DISTRIBUTION", "DESCRIPTION")
        print_table(headings, map(_row, found), colour="STATE")
    else:
        click.echo("No tools are installed. `ferrule new NAME` starts one.")
    if not as_json:
        _print_wrappers(wrappers)
        _print_programs(programs)
    is_well = all(entry.state in _USABLE_STATES for entry in found) and not any(one.state == BROKEN for one in wrappers)
    return int(check and not is_well)


def _programs(found: list[Entry], settings: Configuration) -> list[ProgramStatus]:
    from ferrule.admin import program_status  # not above: without --check nobody needs it

    return program_status.statuses([entry.tool for entry in found if entry.state not in (CLASH, DISABLED)], settings)


def _print_wrappers(wrappers: list[WrapperStatus]) -> None:
    if wrappers:
        click.echo()
        rows = [(one.name, one.state, one.source, one.error or "") for one in wrappers]
        print_table(("WRAPPER", "STATE", "DISTRIBUTION", ""), rows, colour="STATE")


def _print_programs(programs: list[ProgramStatus]) -> None:
    if programs:
        click.echo()
        rows = [(" or ".join(one.names), one.state, ", ".join(one.sources), one.describe()) for one in programs]
        print_table(("PROGRAM", "STATE", "DISTRIBUTION", ""), rows, colour="STATE")


def _row(entry: Entry) -> tuple[str, str, str, str]:
    return entry.name, entry.state, sources(entry), _about(entry)


def sources(entry: Entry) -> str:
    """Who offers the tool, with versions."""
    return ", ".join(sorted(claim.source for claim in entry.claims))


def _about(entry: Entry) -> str:
    if entry.error:
        return entry.error.message
    paragraph = str((entry.schema or {}).get("description", "")).partition("\n\n")[0]
    description = plain(paragraph)
    first, stop, _ = description.partition(". ")
    return first + stop.strip()
