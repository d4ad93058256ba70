"""Let an MCP server go on between calls, or end it with each."""

from __future__ import annotations

import sys

import click

from ferrule.cli import json_option, note, print_json
from ferrule_mcp.installation.kept_servers import change_keeping


@click.command("keep")
@click.argument("name")
@click.argument("state", type=click.Choice(["on", "off"]))
@json_option
def command(name: str, state: str, as_json: bool) -> int:
    """Let the server NAME go on between calls of its tools (on), or start it for each call and end it (off).

    A server that is kept remembers what was called before: a page that is open, a project that is chosen. All its
    tools share one process, for each set of permissions, credentials and variables that it sees. A keeper has that
    process, see `ferrule keep`; where none runs, the first call starts it, by an executable that `ferrule link` wrote.
    `ferrule mcp add` keeps a server whose tools seem to need that.

    \b
    Examples:
      ferrule mcp keep browser on
      ferrule mcp keep time off

    Exit code: 1 where no such server was added, or it is reached by a URL; 0 otherwise.
    """
    keep = state == "on"
    change_keeping(name, keep=keep)
    if as_json:
        print_json({"server": name, "keep": keep})
        return 0
    click.echo(f"{name} goes on between calls." if keep else f"{name} is started for each call.")
    if keep and not sys.platform.startswith("linux"):
        note("Keepers are for Linux: here each call starts it all the same.")
    return 0
