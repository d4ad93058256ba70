"""Add the MCP servers of a client's configuration."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from ferrule.cli import counted, json_option, note, plain, print_json, print_table
from ferrule.errors import FerruleError, InputError
from ferrule_mcp.commands.decisions import make_decide
from ferrule_mcp.commands.options import allow_option, read_rights, scripts_option, seconds_option, yes_option
from ferrule_mcp.commands.words import make_request
from ferrule_mcp.installation.addition import install_and_start
from ferrule_mcp.installation.placement import ServerThere, hold_place, place_server
from ferrule_mcp.installation.selection import Selection
from ferrule_mcp.launch.client_configs import read_client, read_client_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ferrule_mcp.installation.request import Request
    from ferrule_mcp.installation.rights import Right
    from ferrule_mcp.launch.client_configs import ConfiguredServer

CLIENTS = ("claude", "cursor", "vscode", "codex", "gemini", "zed")


class Imported(NamedTuple):
    """What became of one server. state: `added`, `there`, `off` or `failed`."""

    name: str
    state: str
    detail: str


@click.command("import")
@click.argument("source", metavar="CLIENT|FILE")
@click.argument("names", nargs=-1, metavar="[SERVER]...")
@click.option("--list", "is_listed", is_flag=True, help="Show what is there, and add nothing.")
@allow_option
@yes_option
@scripts_option
@seconds_option
@json_option
# Long by its help and by a parameter for each option.
def command(
    source: str,
    names: tuple[str, ...],
    is_listed: bool,
    allowed: tuple[str, ...],
    yes: bool,
    scripts: tuple[str, ...],
    seconds: float,
    as_json: bool,
) -> int:
    """Add the servers that another client of MCP has: claude, cursor, vscode, codex, gemini, zed, or those of a FILE.

    Each is added as `ferrule mcp add` adds it; what looks like a secret becomes a credential. A server that the client
    has switched off, and one whose name is taken, are left out. The client's file is not changed. --allow and
    --allow-scripts are for one server, which is named.

    \b
    Examples:
      ferrule mcp import claude --list
      ferrule mcp import cursor github time
      ferrule mcp import cursor notes --allow read=~/notes

    Exit code: 1 where one of them was not added; 0 otherwise.
    """
    found = _choose(_read(source), names)
    if is_listed:
        rows = [Imported(_name(one.name), "off" if not one.is_enabled else "ready", _describe(one)) for one in found]
    else:
        rights = read_rights(allowed)
        if (allowed or scripts) and len(found) != 1:
            hint = f"Name it: ferrule mcp import {source} SERVER --allow …"
            raise InputError(f"--allow and --allow-scripts are for one server, and there are {len(found)}.", hint=hint)
        rows = [_add(one, rights, scripts, yes=yes, seconds=seconds) for one in found]
    if as_json:
        print_json({"servers": [one._asdict() for one in rows]})
    else:
        print_table(["SERVER", "STATE", "DETAIL"], [[one.name, one.state, plain(one.detail)] for one in rows])
    return int(any(one.state == "failed" for one in rows))


def _read(source: str) -> list[ConfiguredServer]:
    if source in CLIENTS:
        return read_client(source, Path.cwd())
    return read_client_file(Path(source).expanduser().absolute(), Path.cwd())


def _choose(found: Iterable[ConfiguredServer], names: tuple[str, ...]) -> list[ConfiguredServer]:
    """Those of these names, all without any. Raises FerruleError for a name that is not there."""
    listed = list(found)
    known = [one.name for one in listed]
    for name in names:
        if name not in known:
            raise FerruleError(f"There is no server {name!r}.", hint=f"There is {', '.join(known) or 'none'}.")
    return [one for one in listed if not names or one.name in names]


def _name(name: str) -> str:
    """The name in ferrule of a server that a client has under any name."""
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_") or "server"


def _describe(one: ConfiguredServer) -> str:
    return one.problem or (f"{', '.join(one.missing)} is not set here" if one.missing else str(one.file))


def _add(
    one: ConfiguredServer, rights: Sequence[Right], scripts: Sequence[str], *, yes: bool, seconds: float
) -> Imported:
    """Add one server.

    Args:
        one: of the client.
        rights: that it is granted from the beginning.
        scripts: packages whose install scripts may run.
        yes: whether it is granted what its start wants.
        seconds: that its first start may take.
    """
    name = _name(one.name)
    if not one.is_enabled:
        return Imported(name, "off", f"{one.client} has it switched off")
    if one.plan is None:
        return Imported(name, "failed", one.problem)
    request = make_request(name, one.plan)._replace(
        selection=Selection(only=one.only, excluded=one.excluded),
        rights=rights,
        allowed_scripts=scripts,
        seconds=seconds,
    )
    try:
        return _add_request(request, yes=yes)
    except ServerThere:
        return Imported(name, "there", f"`ferrule mcp refresh {name}` renews it")
    except FerruleError as error:
        return Imported(name, "failed", f"{error.message} {error.hint or ''}".strip())


def _add_request(request: Request, *, yes: bool) -> Imported:
    with hold_place(request.name):
        note(f"{request.name}:")
        addition, environment = install_and_start(request, make_decide(request.name, grants_all=yes), note)
        place_server(addition, environment, request.values())
    wanted = "; ".join(right.words() for right in addition.wanted)
    more = f"; was refused: {wanted}" if wanted else ""
    return Imported(request.name, "added", counted(len(addition.schemas), "tool") + more)
