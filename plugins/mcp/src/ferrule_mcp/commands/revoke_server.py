"""Take from an MCP server what it was granted, in all of its tools."""

from __future__ import annotations

import click

from ferrule.cli import json_option, plain, print_json
from ferrule_mcp.commands.options import read_rights
from ferrule_mcp.commands.report import print_rights
from ferrule_mcp.installation.grants import change_rights


@click.command("revoke")
@click.argument("name")
@click.argument("rights", nargs=-1, required=True, metavar="KIND=ENTRY...")
@json_option
def command(name: str, rights: tuple[str, ...], as_json: bool) -> int:
    """Take permissions from the server NAME, in all of its tools.

    KIND is network, read, write, programs or environment. `ferrule permissions revoke` does the same for one tool.

    \b
    Examples:
      ferrule mcp revoke docs network=api.example.com:443
      ferrule mcp revoke notes write=~/notes

    Exit code: 1 where no such server was added, or a permission means nothing; 0 otherwise.
    """
    record = change_rights(name, revoked=read_rights(rights))
    if as_json:
        print_json({"server": name, "permissions": record["permissions"]})
        return 0
    click.echo(plain(name))
    print_rights(record)
    return 0
