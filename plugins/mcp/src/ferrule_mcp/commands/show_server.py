"""Show all that is known of one MCP server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ferrule.cli import counted, home_as_tilde, json_option, plain, print_indented, print_json
from ferrule_mcp.commands.report import describe, print_rights, print_tools
from ferrule_mcp.environment.verification import verify
from ferrule_mcp.installation.server import find_server

if TYPE_CHECKING:
    from ferrule_mcp.environment.record import Environment

_MAX_PACKAGES = 12


@click.command("show")
@click.argument("name")
@click.option("--verify", "is_verified", is_flag=True, help="Hold all that was installed for it against its digests.")
@json_option
def command(name: str, is_verified: bool, as_json: bool) -> int:
    """Show the server NAME: what it runs, what it may, what its tools lost, and what was installed for it.

    \b
    Examples:
      ferrule mcp show time
      ferrule mcp show time --verify

    Exit code: 1 where no such server was added, or a file is not as it was installed; 0 otherwise.
    """
    server = find_server(name)
    record = server.record
    changed = verify(server.environment) if is_verified and server.environment else []
    if as_json:
        verified = {"changed": changed} if is_verified else {}
        print_json({**describe(record, server.environment), "definitions": server.definitions, **verified})
        return int(bool(changed))
    click.echo(f"{name}  {server.tools.version}")
    print_indented(*_facts(server.tools.distribution, record["era"], record["home"]))
    print_indented(f"URL: {record['url']}" if record["url"] else f"Runs: {plain(' '.join(record['command']))}")
    print_indented("Kept: it goes on between calls" if record.get("keep") else "Kept: no, each call starts it")
    print_tools(record)
    print_rights(record)
    for sentence in record["notes"]:
        print_indented(plain(sentence))
    if server.environment:
        _print_environment(server.environment)
    if is_verified:
        click.echo("What was installed is as it was." if not changed else "Not as it was installed:")
        print_indented(*map(plain, changed))
    return int(bool(changed))


def _facts(distribution: str, era: str, home: str) -> list[str]:
    return [f"Distribution: {distribution}", f"Protocol: {era}", f"Home: {home_as_tilde(home)}"]


def _print_environment(environment: Environment) -> None:
    packages = environment.packages
    if not packages:
        return
    click.echo(f"{counted(len(packages), 'package')} in {home_as_tilde(environment.folder)}:")
    for one in packages[:_MAX_PACKAGES]:
        print_indented(f"{one.name} {one.version}  {one.digest}")
    if len(packages) > _MAX_PACKAGES:
        print_indented(f"and {len(packages) - _MAX_PACKAGES} more: --json has all of them")
