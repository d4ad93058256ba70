"""Serve tools over the Model Context Protocol."""

from __future__ import annotations

import gc
import os
import re
import signal
import sys
from importlib.util import find_spec

import click

from ferrule import config, discovery
from ferrule.calls.server_interface import prepare_groups, unenforced
from ferrule.cli import install_command, json_option, note, print_json, tools_argument
from ferrule.errors import ServeError
from ferrule.installed import unknown_tool
from ferrule_serve.mcp.http import addresses
from ferrule_serve.schema_forms import FORMS, schema_form

_ON_A_TERMINAL = """\
This is a server for clients of MCP, which start it themselves and talk to it on stdin and stdout.
`ferrule connect` says which clients there are, and `ferrule connect CLIENT` has one start it.
`ferrule serve --http` serves over HTTP, with a page for a browser where --page is given. Ctrl-D ends this one."""
_REQUIREMENTS = ("uvicorn", "httptools", "starlette", "jinja2", "markupsafe")


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
@click.option(
    "--allow-origin",
    "origins",
    multiple=True,
    metavar="ORIGIN",
    help="A page that may call tools from a browser, as in https://app.example.org.",
)
@click.option("--page", is_flag=True, help="Show tools and last calls to browsers, at /, where tools can be tried.")
@click.option("--metrics", is_flag=True, help="Give Prometheus its figures, at /metrics.")
@click.option("--sessions", is_flag=True, help="Keep a session for each client of the protocol before 2026-07-28.")
@click.option("--workers", type=click.IntRange(1, 1024), default=64, show_default=True, help="Calls at one time.")
@click.option(
    "--workers-per-tool",
    "per_tool",
    type=click.IntRange(1, 1024),
    default=48,
    show_default=True,
    help="Calls of one tool at one time.",
)
@click.option(
    "--calls", type=click.IntRange(1), default=1000, show_default=True, help="Calls after which a tool is loaded anew."
)
@click.option("--artifacts/--no-artifacts", default=True, show_default=True, help="Link large results.")
@click.option(
    "--schemas",
    "in_form",
    type=click.Choice(FORMS),
    help="The form of the schemas, plain for clients that take few keywords; as configured by default.",
)
@json_option
# Long by its help and by a parameter for each option, of which each is passed on by name.
def command(
    tools: tuple[str, ...],
    http: str | None,
    token_file: str | None,
    names: tuple[str, ...],
    origins: tuple[str, ...],
    page: bool,
    metrics: bool,
    sessions: bool,
    workers: int,
    per_tool: int,
    calls: int,
    artifacts: bool,
    in_form: str | None,
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
      ferrule serve --http 0.0.0.0:8700 --token-file token --allow-host mcp.lan

    A client's configuration, where it starts servers itself: {"command": "ferrule", "args": ["serve"]}

    Exit code: 0 after an orderly end, 1 where it cannot serve.
    """
    if http is None and (token_file or names or origins or page or metrics or sessions):
        raise click.UsageError(
            "--token-file, --allow-host, --allow-origin, --page, --metrics and --sessions are for --http."
        )
    _check_origins(origins)
    address = None if http is None else _parse_address(http)
    _check_tools(tools)
    settings = config.read()  # one that cannot be read would fail every call
    if in_form is None:
        schema_form(settings)  # refused here rather than in each answer
    token = addresses.read_token(token_file)
    if address is not None:
        addresses.check_access(address, token)
    _check_requirements()
    if metrics and find_spec("prometheus_client") is None:
        hint = f"Run: {install_command('ferrule-serve[metrics]')}"
        raise ServeError("What --metrics needs is not installed (prometheus_client).", hint=hint)
    if address is None and sys.stdin.isatty():
        note(_ON_A_TERMINAL)
    for text in unenforced(has_network=True):
        note(f"warning: {text} `ferrule doctor` names the tools.")
    _end_on_signals()
    prepare_groups()  # while nothing has been started that would stay in the group of this process
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
            origins=origins,
            workers=workers,
            per_tool=per_tool,
            calls=calls,
            has_sessions=sessions,
            in_form=in_form,
            with_artifacts=artifacts,
            with_page=page,
            with_metrics=metrics,
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
    missing = [name for name in _REQUIREMENTS if find_spec(name) is None]
    if missing:
        raise ServeError(
            f"What serves MCP is not installed ({', '.join(missing)}).",
            hint=f"Run: {install_command('ferrule-serve', '--upgrade')}",
        )


def _parse_address(text: str) -> addresses.Address:
    try:
        return addresses.Address(text)
    except ValueError as error:
        raise click.UsageError(f"{error}. Put the tools before --http, or write --http=HOST:PORT.") from None


def _check_origins(origins: tuple[str, ...]) -> None:
    for origin in origins:
        if not re.fullmatch(r"https?://[A-Za-z0-9.\-\[\]:]+", origin):
            raise click.UsageError(f"--allow-origin takes an origin, such as https://app.example.org, not {origin}.")


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
