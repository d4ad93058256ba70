"""Grant an MCP server more, for all of its tools."""

from __future__ import annotations

import click

from ferrule.cli import json_option
from ferrule_mcp.commands.options import read_rights
from ferrule_mcp.commands.report import report_rights
from ferrule_mcp.installation.grants import change_rights


@click.command("grant")
@click.argument("name")
@click.argument("rights", nargs=-1, required=True, metavar="KIND=ENTRY...")
@json_option
def command(name: str, rights: tuple[str, ...], as_json: bool) -> int:
    """Let the server NAME do more, in all of its tools, whatever is installed of it later.

    KIND is network, read, write, programs or environment. `ferrule permissions grant` does the same for one tool.

    \b
    Examples:
      ferrule mcp grant docs network=api.example.com:443
      ferrule mcp grant notes write=~/notes

    Exit code: 1 where no such server was added, or a permission means nothing; 0 otherwise.
    """
    report_rights(change_rights(name, granted=read_rights(rights)), as_json=as_json)
    return 0
