"""`ferrule list`: which tools are installed, and in which state each is."""

import click

from ferrule.cli.output import plain, print_json, print_table
from ferrule.cli.selection import entries, json_option
from ferrule.inventory import DISABLED, OK, UNCHECKED, Entry

_WELL = (OK, UNCHECKED, DISABLED)


@click.command("list")
@click.option("--check", is_flag=True, help="Load each plugin, in a process of its own, and check its schema.")
@json_option
def command(check: bool, as_json: bool) -> int:
    """List the installed tools: name, state, distribution, and what it does or why it cannot.

    Without --check nothing of a plugin is imported, and a tool that may be well is `unchecked`. The other states are
    `ok`, `broken`, `clash`, `invalid` and `disabled`.

    \b
    Example: ferrule list --check --json

    Exit code: 1 where --check finds a tool that is broken, invalid or in a clash; 0 otherwise.
    """
    found = list(entries((), load=check))
    if as_json:
        print_json({"tools": [entry.as_dict() for entry in found]})
    elif found:
        headings = ("TOOL", "STATE", "DISTRIBUTION", "DESCRIPTION")
        print_table(headings, map(_row, found), colour="STATE")
    else:
        click.echo("No tools are installed. `ferrule new NAME` starts one.")
    return int(check and any(entry.state not in _WELL for entry in found))


def _row(entry: Entry) -> tuple[str, str, str, str]:
    return entry.name, entry.state, sources(entry), _about(entry)


def sources(entry: Entry) -> str:
    """Who offers the tool, with versions."""
    return ", ".join(sorted(claim.source for claim in entry.claims))


def _about(entry: Entry) -> str:
    if entry.error:
        return entry.error.message
    description = plain((entry.schema or {}).get("description", ""))
    first, stop, _ = description.partition(". ")
    return first + stop.strip()
