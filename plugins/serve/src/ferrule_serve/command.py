"""Serve tools over the Model Context Protocol."""

from __future__ import annotations

import gc
import os
import signal
import sys

import click

from ferrule import config
from ferrule.calls.server_interface import discovery
from ferrule.cli import json_option, note, print_json, tools_argument
from ferrule.errors import ServingRefused
from ferrule.installed import unknown_tool
from ferrule_serve.mcp import addresses

_REQUIREMENTS = ("mcp", "mcp_types", "uvicorn", "starlette", "jinja2")


@click.command("serve")
@tools_argument
@click.option(
    "--http",
    metavar="[HOST:PORT]",
    is_flag=False,
    flag_value="127.0.0.1:0",
    help="Serve over HTTP; without an address at 127.0.0.1 and a free port.",
)
@click.option("--token-file", type=click.Path(), metavar="FILE", help="The bearer token that every request must carry.")
@click.option(
    "--allow-host", "names", multiple=True, metavar="NAME", help="A further name clients may know the server under."
)
@click.option("--page", is_flag=True, help="Show tools and last calls to browsers, at /, where tools can be tried.")
@click.option("--sessions", is_flag=True, help="Keep a session for each client of the protocol before 2026-07-28.")
@click.option("--workers", type=click.IntRange(1, 256), default=8, show_default=True, help="Calls at one time.")
@click.option(
    "--calls", type=click.IntRange(1), default=1000, show_default=True, help="Calls after which a worker is renewed."
)
@click.option("--artifacts/--no-artifacts", default=True, show_default=True, help="Link large results.")
@json_option
def command(
    tools: tuple[str, ...],
    http: str | None,
    token_file: str | None,
    names: tuple[str, ...],
    page: bool,
    sessions: bool,
    workers: int,
    calls: int,
    artifacts: bool,
    as_json: bool,
) -> int:
    """Serve tools over the Model Context Protocol: all that are well, or those named.

    Without --http the one client is the program that started this, on stdin and stdout. With it, clients connect to the
    URL that is printed. An address that other machines reach needs a token, from --token-file or FERRULE_SERVE_TOKEN.

    A tool runs as its executable does: same arguments, answers, deadline (FERRULE_DEADLINE) and isolation, without the
    start. Clients are notified of tools that are installed or removed while it runs; SIGHUP looks at everything again.
    SIGTERM lets running calls finish over HTTP, and ends them on stdio.

    \b
    Examples:
      ferrule serve
      ferrule serve web_fetch web_search --workers 4
      ferrule serve --http
      ferrule serve --http 127.0.0.1:8700 --page
      ferrule serve --http 0.0.0.0:8700 --token-file token --allow-host tools.example.org

    A client's configuration, where it starts servers itself: {"command": "ferrule", "args": ["serve"]}

    Exit code: 0 after an orderly end, 1 where it cannot serve.
    """
    if http is None and (token_file or names or page or sessions):
        raise click.UsageError("--token-file, --allow-host, --page and --sessions are for --http.")
    address = None if http is None else _parse_address(http)
    _check_tools(tools)
    config.read()  # one that cannot be read would fail every call
    token = addresses.read_token(token_file)
    if address is not None:
        addresses.check_access(address, token)
    _check_requirements()
    _end_on_signals()
    from ferrule_serve.snapshots import start_snapshot

    snapshot = start_snapshot(tools, with_artifacts=artifacts)
    gc.disable()  # until all is imported, which leaves nothing to collect
    from ferrule_serve.mcp.lifecycle import Options, serve

    gc.freeze()
    gc.enable()
    serve(
        Options(
            tools=tools,
            address=address,
            token=token,
            names=names,
            workers=workers,
            calls=calls,
            has_sessions=sessions,
            with_artifacts=artifacts,
            with_page=page,
            snapshot=snapshot,
            say=note,
            announce=lambda url: _announce(url, as_json),
        )
    )
    return 0


def _end_on_signals() -> None:
    """End in order until the event loop takes the signals; what has been started by then ends with this process."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: os._exit(0))


def _check_requirements() -> None:
    from importlib.util import find_spec

    missing = [name for name in _REQUIREMENTS if find_spec(name) is None]
    if missing:
        raise ServingRefused(
            f"What serves MCP is not installed ({', '.join(missing)}).", hint="Run: pip install 'ferrule[mcp]'"
        )


def _parse_address(text: str) -> addresses.Address:
    try:
        return addresses.Address(text)
    except ValueError as error:
        raise click.UsageError(f"{error}. Put the tools before --http, or write --http=HOST:PORT.") from None


def _check_tools(names: tuple[str, ...]) -> None:
    claims = discovery.scan()
    for name in names:
        if name not in claims:
            raise unknown_tool(name, claims)


def _announce(url: str, as_json: bool) -> None:
    if as_json:
        print_json({"url": url})
    else:
        click.echo(url)
    sys.stdout.flush()
