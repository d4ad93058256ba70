"""Install an MCP server anew, show what differs, and take it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ferrule.cli import json_option, note, plain, print_indented, print_json
from ferrule_mcp.commands.decisions import make_decide
from ferrule_mcp.commands.options import allow_option, read_rights, yes_option
from ferrule_mcp.environment.provenance import find_provenance
from ferrule_mcp.installation.refreshment import Renewal, drop, renew, take
from ferrule_mcp.installation.server import find_server, hold_server

if TYPE_CHECKING:
    from ferrule_mcp.environment.differences import Difference

_MARKS = {"added": "+", "removed": "-", "changed": "~"}


@click.command("refresh")
@click.argument("name")
@click.option("--accept", is_flag=True, help="Take what differs.")
@allow_option
@yes_option
@json_option
def command(name: str, accept: bool, allowed: tuple[str, ...], yes: bool, as_json: bool) -> int:
    """Install the server NAME anew, start it, and show what differs: versions, definitions of tools, permissions.

    Nothing changes without --accept: calls go on with what was accepted.

    \b
    Examples:
      ferrule mcp refresh time
      ferrule mcp refresh time --accept

    Exit code: 1 where something differs and was not accepted, or the server does not start anew; 0 otherwise.
    """
    find_server(name)
    with hold_server(name):
        server = find_server(name)
        renewal = renew(server, read_rights(allowed), make_decide(name, grants_all=yes), note)
        is_taken = accept and bool(renewal.differences)
        if is_taken:
            take(server, renewal)
        else:
            drop(server, renewal)
    _report(name, renewal, is_taken=is_taken, as_json=as_json)
    return int(bool(renewal.differences) and not is_taken)


def _report(name: str, renewal: Renewal, *, is_taken: bool, as_json: bool) -> None:
    provenance = _find_provenance(renewal)
    if as_json:
        found = [one.to_json() for one in renewal.differences]
        print_json({"server": name, "differences": found, "accepted": is_taken, "provenance": provenance})
        return
    if not renewal.differences:
        click.echo(f"{name} is as it was.")
    for one in renewal.differences:
        _print_difference(one)
    if provenance:
        print_indented(f"provenance: {plain(provenance)}")
    if is_taken:
        click.echo(f"{name} was renewed.")
    elif renewal.differences:
        note(f"Nothing was changed. `ferrule mcp refresh {name} --accept` takes it.")


def _print_difference(one: Difference) -> None:
    grave = "  (look at this)" if one.is_grave else ""
    click.echo(f"{_MARKS.get(one.what, '~')} {one.kind} {plain(one.subject)}{grave}")
    print_indented(*map(plain, one.words))


def _find_provenance(renewal: Renewal) -> str:
    """What the index says of who built the server's own package; empty where it says nothing."""
    environment, origin = renewal.environment, renewal.addition.record["origin"]
    if not environment or not environment.packages or not origin.get("launch"):
        return ""
    from ferrule_mcp.launch.plan import Launch

    launch = Launch.from_json(origin["launch"])
    main = next((one for one in environment.packages if one.version == environment.version), environment.packages[0])
    return find_provenance(main, launch)
