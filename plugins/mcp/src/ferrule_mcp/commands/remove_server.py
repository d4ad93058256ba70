"""Remove an MCP server and its tools."""

from __future__ import annotations

import shutil

import click

from ferrule.cli import counted, home_as_tilde, json_option, note, print_json
from ferrule.installed import SourceTools
from ferrule_mcp.installation.placement import forget_addition
from ferrule_mcp.installation.server import find_home, find_server, hold_server, remove_environments
from ferrule_mcp.record import SOURCE


@click.command("remove")
@click.argument("name")
@click.option("--with-home", is_flag=True, help="Remove the folder that was its home, with all that it kept there.")
@json_option
def command(name: str, with_home: bool, as_json: bool) -> int:
    """Remove the server NAME, its tools, and what was installed for it. Its credentials and its home stay.

    Example: ferrule mcp remove time

    Exit code: 1 where no such server was added; 0 otherwise.
    """
    home = find_home(name)
    with hold_server(name):
        installed = SourceTools(SOURCE, name)
        tools = [one.name for one in installed.tools()]
        if not installed.remove():
            find_server(name)  # which says what there is
        remove_environments(name)
        forget_addition(name)
        if with_home:
            shutil.rmtree(home, ignore_errors=True)
    if as_json:
        print_json({"removed": name, "tools": tools, "home": None if with_home else home})
        return 0
    click.echo(f"Removed {name}: {counted(len(tools), 'tool')}.")
    if not with_home:
        note(f"Its home stays: {home_as_tilde(home)}")
    note(f"Where they are linked: ferrule unlink {' '.join(tools)}")
    return 0
