"""List the MCP servers that were added."""

from __future__ import annotations

import click

from ferrule.cli import json_option, note, print_json, print_table
from ferrule_mcp.commands.report import describe
from ferrule_mcp.installation.rights import list_rights
from ferrule_mcp.installation.server import InstalledServer, find_servers


@click.command("list")
@json_option
def command(as_json: bool) -> int:
    """Show each MCP server: its version, its tools, how it is reached, and the network that it may use.

    Example: ferrule mcp list

    Exit code: 0.
    """
    servers = find_servers()
    if as_json:
        print_json({"servers": [describe(one.record, one.environment) for one in servers]})
        return 0
    if not servers:
        note("No MCP server was added. `ferrule mcp add NAME -- COMMAND` adds one.")
        return 0
    print_table(["SERVER", "VERSION", "TOOLS", "BY", "KEPT", "NETWORK"], [_row(one) for one in servers])
    return 0


def _row(server: InstalledServer) -> list[str]:
    record = server.record
    network = [one.entry for one in list_rights(record["permissions"]) if one.key == "network"]
    way = record["url"] or (server.environment.ecosystem if server.environment else "a program")
    kept = "yes" if record.get("keep") else "no"
    return [server.name, server.tools.version, str(len(record["tools"])), way, kept, ", ".join(network) or "none"]
