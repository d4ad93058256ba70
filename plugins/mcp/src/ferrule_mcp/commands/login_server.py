"""Log in at an MCP server that wants tokens."""

from __future__ import annotations

import sys

import click

from ferrule.cli import json_option, note, print_json
from ferrule.errors import InputError
from ferrule_mcp.installation.server import find_server

TOKEN = "token"  # noqa: S105 - the name of the credential
"""The credential that a login writes."""
paste_option = click.option("--paste", is_flag=True, help="Paste the answer of a browser on another machine.")
client_option = click.option("--client-id", default="", metavar="ID", help="A client that you have registered there.")
port_option = click.option("--port", default=0, metavar="N", help="The port of the redirect; any by default.")


@click.command("login")
@click.argument("name")
@paste_option
@client_option
@port_option
@json_option
def command(name: str, paste: bool, client_id: str, port: int, as_json: bool) -> int:
    """Log in at the server NAME by OAuth, in a browser; its token is kept in the credentials file, and renewed.

    \b
    Examples:
      ferrule mcp login docs
      ferrule mcp login docs --paste

    Exit code: 1 where the login fails, or the server wants none; 0 otherwise.
    """
    record = find_server(name).record
    if record["transport"] != "http":
        raise InputError(f"{name} is started here, and wants no login.", hint="Set its credentials instead.")
    if TOKEN not in record["credentials"]:
        hint = f"`ferrule mcp remove {name}`, and add it again with --login."
        raise InputError(f"{name} was added without a login.", hint=hint)
    log_in_at(name, record["url"], paste=paste, client_id=client_id, port=port)
    if as_json:
        print_json({"server": name, "credential": TOKEN})
    else:
        click.echo(f"Logged in at {name}.")
    return 0


def log_in_at(name: str, url: str, *, paste: bool = False, client_id: str = "", port: int = 0) -> None:
    """Log in at a server, and keep its token.

    Args:
        name: the server's in ferrule.
        url: of the server.
        paste: whether the user pastes the answer.
        client_id: of a client that the user has registered; empty to be registered.
        port: of the redirect, 0 for any.

    Raises ToolError, see `log_in`.
    """
    # With the SDK of MCP, whose import takes most of a second, which adding a server without a login does not pay.
    from ferrule_mcp.remote.oauth.account import show_address, store_login
    from ferrule_mcp.remote.oauth.login import log_in
    from ferrule_mcp.remote.oauth.loopback import LoopbackRedirect
    from ferrule_mcp.remote.oauth.paste import PastedRedirect

    again = f"ferrule mcp login {name}"
    if paste:
        token = log_in(url, PastedRedirect(_show, _read_line, port), command=again, client_id=client_id)
    else:
        with LoopbackRedirect(show_address, port) as redirect:
            token = log_in(url, redirect, command=again, client_id=client_id)
    store_login(name, token)


def _show(address: str) -> None:
    note("Open this address in a browser, and log in:")
    click.echo(address, err=True)  # unwrapped, so that it can be copied


def _read_line() -> str:
    note("Paste the address that the browser ends at:")
    return sys.stdin.readline()
