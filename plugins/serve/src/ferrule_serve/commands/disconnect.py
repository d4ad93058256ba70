"""Take this server out of the configuration of a client of MCP."""

from __future__ import annotations

import click

from ferrule.cli import json_option
from ferrule_serve.clients.connection import plan_disconnection
from ferrule_serve.clients.definitions import CLIENTS
from ferrule_serve.commands.connect import file_of, finish, name_option, print_option, project_option


@click.command("disconnect")
@click.argument("client", metavar="CLIENT", type=click.Choice(list(CLIENTS)))
@name_option
@project_option
@print_option
@json_option
def command(client: str, name: str, project: bool, is_printed: bool, as_json: bool) -> int:
    """Take the entry that `ferrule connect` wrote out of the file of CLIENT. Everything else in it stays.

    \b
    Examples:
      ferrule disconnect claude-code
      ferrule disconnect cursor --name web --print

    Exit code: 1 where the client's file cannot be changed; 0 otherwise, also if there is no such entry.
    """
    chosen = CLIENTS[client]
    path = file_of(chosen, project)
    change = plan_disconnection(chosen, path, name)
    finish(change, is_printed, as_json, f"{chosen.title} starts ferrule no more. {chosen.reload}")
    return 0
