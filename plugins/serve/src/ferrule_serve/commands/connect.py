"""Write this server into the configuration of a client of MCP."""

from __future__ import annotations

import difflib
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ferrule import discovery
from ferrule.cli import json_option, note, print_json, print_table, show_files
from ferrule.errors import FerruleError
from ferrule.installed import unknown_tool
from ferrule_serve.clients.connection import (
    DEFAULT_NAME,
    Change,
    find_connections,
    plan_connection,
    this_server,
)
from ferrule_serve.clients.definitions import CLIENTS, Client

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONObject

name_option = click.option(
    "--name", default=DEFAULT_NAME, show_default=True, metavar="NAME", help="What the client calls the server."
)
project_option = click.option(
    "--project", is_flag=True, help="Change the file of the project in the working folder, not that of the user."
)
print_option = click.option("--print", "is_printed", is_flag=True, help="Show what would change, and change nothing.")


@click.command("connect")
@click.argument("client", required=False, metavar="[CLIENT]", type=click.Choice(list(CLIENTS)))
@click.argument("tools", nargs=-1, metavar="[TOOL]...")
@click.option("--env", "variables", multiple=True, metavar="NAME=VALUE", help="A variable that the server gets.")
@name_option
@project_option
@print_option
@json_option
def command(
    client: str | None,
    tools: tuple[str, ...],
    variables: tuple[str, ...],
    name: str,
    project: bool,
    is_printed: bool,
    as_json: bool,
) -> int:
    """Have CLIENT start `ferrule serve`, with all tools or those named. Without CLIENT, list the clients.

    The entry has absolute paths, since a client that is started from a desktop has no PATH of a shell. The file as it
    was is kept beside it, as FILE.before-ferrule, and `ferrule disconnect` brings it back where nothing else has
    changed since; comments in it stay. An entry of the same name is replaced. Keys belong into the credentials file
    (`ferrule credentials`), where no other program reads them.

    \b
    Examples:
      ferrule connect
      ferrule connect claude-code --print
      ferrule connect cursor web_fetch web_search
      ferrule connect vscode --project

    Exit code: 1 where the client's file cannot be changed; 0 otherwise.
    """
    if client is None:
        _list(as_json)
        return 0
    claims = discovery.scan()
    for tool in tools:
        if tool not in claims:
            raise unknown_tool(tool, claims)
    chosen = CLIENTS[client]
    change = plan_connection(chosen, file_of(chosen, project), name, this_server(tools, _environment(variables)))
    finish(change, is_printed, as_json, f"{chosen.title} starts ferrule now. {chosen.reload}")
    return 0


def file_of(client: Client, is_of_project: bool) -> Path:
    """The file to change. Raises FerruleError where the client has none for projects."""
    if not is_of_project:
        return client.user_file()
    if client.project_file is None:
        raise FerruleError(f"{client.title} has no configuration of a project.", hint="Leave out --project.")
    return Path.cwd() / client.project_file


def finish(change: Change, is_printed: bool, as_json: bool, done: str) -> None:
    """Write the change, or show it, and say so."""
    kept = change.backup if change.is_kept and change.is_needed and not is_printed else None
    if change.is_needed and not is_printed:
        change.write()
    if not is_printed:
        _show_to_doctor({str(change.path): change.client.name})
    if as_json:
        facts: JSONObject = {"client": change.client.name, "file": str(change.path), "name": change.name}
        facts |= {"changed": change.is_needed and not is_printed, "backup": str(kept) if kept else None}
        print_json({**facts, "difference": _difference(change)} if is_printed else facts)
    elif is_printed:
        click.echo(_difference(change) or f"{change.path} stays as it is.")
    else:
        click.echo(str(change.path))
        note(done if change.is_needed else "It stays as it is.")
        if kept:
            note(f"As it was: {kept}")


def _show_to_doctor(files: dict[str, str | None]) -> None:
    """`ferrule doctor` looks at these files from now on; it works without."""
    with suppress(FerruleError):  # of a source tree that is not installed
        show_files("clients", files)


def _difference(change: Change) -> str:
    before, after = ((text or "").splitlines() for text in (change.before, change.after))
    return "\n".join(difflib.unified_diff(before, after, str(change.path), str(change.path), lineterm=""))


def _environment(variables: tuple[str, ...]) -> dict[str, str]:
    pairs = [one.partition("=") for one in variables]
    for key, sign, _ in pairs:
        if not sign or not key:
            raise click.UsageError("--env takes NAME=VALUE.")
    return {key: value for key, _, value in pairs}


def _list(as_json: bool) -> None:
    """The clients, their files, and whether ferrule is in them."""
    found = list(find_connections(Path.cwd()))
    connected = [one for one in found if not isinstance(one, FerruleError)]
    names = {(one.client.name, one.path): one.name for one in connected}
    _show_to_doctor({str(one.path): one.client.name for one in connected})
    rows = [(client, client.user_file()) for client in CLIENTS.values()]
    if as_json:
        facts = [
            {
                "client": client.name,
                "title": client.title,
                "file": str(path),
                "project_file": client.project_file,
                "exists": path.exists(),
                "connected": names.get((client.name, path)),
            }
            for client, path in rows
        ]
        print_json({"clients": facts})
        return
    cells = [
        (client.name, client.title, _state(path, names.get((client.name, path))), str(path)) for client, path in rows
    ]
    print_table(("CLIENT", "TITLE", "STATE", "FILE"), cells, colour="STATE")


def _state(path: Path, name: str | None) -> str:
    if name is not None:
        return "on"
    return "found" if path.exists() else "-"
