"""Have the tools of MCP servers: add, import, list, show, keep, refresh and remove servers."""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Sequence

_NOT_OTHERS = 0o022
_SUBCOMMANDS = ("add", "grant", "import", "keep", "list", "login", "refresh", "remove", "revoke", "show")


class _Subcommands(click.Group):
    """Loads each subcommand when it is asked for: what adds a server is more than what lists them."""

    def list_commands(self, ctx: click.Context) -> Sequence[str]:  # type: ignore[override] # a tuple will do
        return _SUBCOMMANDS

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _SUBCOMMANDS:
            return None
        found: click.Command = import_module(f"ferrule_mcp.commands.{cmd_name}_server").command
        return found


@click.group("mcp", cls=_Subcommands)
def command() -> None:
    """Make the tools of MCP servers tools of ferrule.

    A server is installed into an environment of its own, started once without any rights but its own files, and its
    tools are written down. From then on each of them is an executable: a call starts the server, held by the kernel to
    what it was granted, and ends it. One that is kept goes on between calls.

    \b
    Examples:
      ferrule mcp add time -- uvx mcp-server-time
      ferrule mcp add memory -- npx -y @modelcontextprotocol/server-memory
      ferrule mcp list
      ferrule link 'time_*'
    """
    os.umask(os.umask(_NOT_OTHERS) | _NOT_OTHERS)  # what is installed is code that nobody else may write
