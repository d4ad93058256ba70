"""Add an MCP server: install it, start it once, and make its tools."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from ferrule.cli import json_option, note
from ferrule.errors import InputError
from ferrule.text import strict_json
from ferrule_mcp.commands.decisions import make_decide
from ferrule_mcp.commands.login_server import TOKEN, client_option, log_in_at, paste_option
from ferrule_mcp.commands.options import (
    allow_option,
    join_credentials,
    keep_option,
    part_secrets,
    read_pairs,
    read_rights,
    registry_option,
    scripts_option,
    seconds_option,
    yes_option,
)
from ferrule_mcp.commands.report import report_addition
from ferrule_mcp.commands.words import read_words
from ferrule_mcp.installation.addition import install_and_start, try_tool
from ferrule_mcp.installation.kept_servers import require_process
from ferrule_mcp.installation.placement import hold_place, place_server
from ferrule_mcp.installation.selection import Selection
from ferrule_mcp.installation.server import remove_environment

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONObject
    from ferrule_mcp.installation.addition import Addition, Decide
    from ferrule_mcp.installation.request import Request


@click.command("add", context_settings={"ignore_unknown_options": False})
@click.argument("name")
@click.argument(
    "words", nargs=-1, required=True, metavar="URL | FILE | -- COMMAND [ARGUMENT]...", type=click.UNPROCESSED
)
@click.option("--prefix", metavar="TEXT", help="What the names of its tools begin with, instead of NAME.")
@click.option("--only", multiple=True, metavar="TOOL", help="Take this tool only; may have a *.")
@click.option("--except", "excluded", multiple=True, metavar="TOOL", help="Leave this tool out; may have a *.")
@click.option("--as", "renamed", multiple=True, metavar="TOOL=NAME", help="Give a tool another name.")
@click.option(
    "--env",
    "variables",
    multiple=True,
    metavar="NAME=VALUE",
    help="A variable that it gets; a secret becomes a credential.",
)
@click.option(
    "--header",
    "headers",
    multiple=True,
    metavar="NAME=VALUE",
    help="A header of its requests, for a URL; {NAME} in it is a credential.",
)
@click.option(
    "--set", "answers", multiple=True, metavar="NAME=VALUE", help="Answer what a bundle or a server.json asks for."
)
@registry_option
@click.option("--login", is_flag=True, help="Log in first, by OAuth, at a URL that wants a token.")
@paste_option
@client_option
@click.option("--folder", default="", metavar="DIR", help="Where it works, which it may read and write.")
@click.option("--root", "roots", multiple=True, metavar="DIR", help="A folder that it is offered as a root.")
@click.option(
    "--try",
    "tried",
    nargs=2,
    multiple=True,
    metavar="TOOL ARGUMENTS",
    help="Call a tool with a JSON object, to see what it wants.",
)
@allow_option
@yes_option
@scripts_option
@keep_option
@seconds_option
@json_option
# Long by its help and by a parameter for each option, of which each is passed on by name.
def command(
    name: str,
    words: tuple[str, ...],
    prefix: str | None,
    only: tuple[str, ...],
    excluded: tuple[str, ...],
    renamed: tuple[str, ...],
    variables: tuple[str, ...],
    headers: tuple[str, ...],
    answers: tuple[str, ...],
    registries: tuple[str, ...],
    login: bool,
    paste: bool,
    client_id: str,
    folder: str,
    roots: tuple[str, ...],
    tried: tuple[tuple[str, str], ...],
    allowed: tuple[str, ...],
    yes: bool,
    scripts: tuple[str, ...],
    keep: bool | None,
    seconds: float,
    as_json: bool,
) -> int:
    """Install the MCP server that COMMAND starts, or take the one at URL, and make its tools those of ferrule.

    FILE is a bundle (.mcpb), or the server.json of a registry.

    COMMAND is written as for any client of MCP: npx, uvx, pipx run, node, python -m, or a program. What it names is
    installed once, into an environment of its own, so that a call resolves nothing; a package's install scripts do not
    run. The server is started under confinement: it reads its own environment and has a folder of its own as its home,
    no network and no other file. What it wanted and was refused is shown, and granted where you say so.

    \b
    Examples:
      ferrule mcp add time -- uvx mcp-server-time
      ferrule mcp add memory -- npx -y @modelcontextprotocol/server-memory
      ferrule mcp add docs https://mcp.example.com/mcp
      ferrule mcp add git --folder ~/project --only 'git_*' -- uvx mcp-server-git

    Exit code: 1 where it is not installed, does not start or has no tools; 0 where its tools are there.
    """
    with hold_place(name):
        place = os.path.abspath(os.path.expanduser(folder)) if folder else ""
        request = read_words(name, words, place, read_pairs(answers, "--set"), registries)
        plain, secrets = part_secrets(read_pairs(variables, "--env"))
        fields, more = part_secrets({**request.headers, **read_pairs(headers, "--header")})
        request = request._replace(
            headers=fields,
            variables=plain,
            credentials=join_credentials(request.credentials, more, secrets),
            folder=place,
            roots=[os.path.abspath(os.path.expanduser(one)) for one in roots],
            rights=read_rights(allowed),
            selection=Selection(prefix, only, excluded, read_pairs(renamed, "--as")),
            allowed_scripts=scripts,
            seconds=seconds,
            keep=keep,
        )
        if keep:
            require_process(name, has_process=request.source is not None)
        if login or paste:
            request = _log_in(request, paste=paste, client_id=client_id)
        add_server(request, make_decide(name, grants_all=yes), tried, as_json=as_json)
    return 0


def _log_in(request: Request, *, paste: bool, client_id: str) -> Request:
    """The request with the header that carries the token of a login. Raises InputError and ToolError."""
    if not request.url:
        raise InputError(f"{request.name} is started here, and wants no login.", hint="Leave --login out.")
    log_in_at(request.name, request.url, paste=paste, client_id=client_id)
    headers = {**request.headers, "Authorization": f"Bearer {{{TOKEN}}}"}
    return request._replace(headers=headers, credentials={**request.credentials, TOKEN: ""})


def add_server(request: Request, decide: Decide, tried: tuple[tuple[str, str], ...] = (), *, as_json: bool) -> None:
    """Install a server, start it, and write its tools; what was installed goes where it fails.

    Args:
        request: what the admin asks for.
        decide: grants what the server wants.
        tried: names of tools with arguments, as JSON, that are called before anything is written.
        as_json: whether the report is JSON.

    Raises FerruleError.
    """
    addition, environment = install_and_start(request, decide, note)
    try:
        answers = []
        for tool, arguments in tried:
            addition, answer = _try(addition, request, tool, arguments, decide)
            answers.append({"tool": tool, "answer": answer})
    except BaseException:
        remove_environment(addition.record)
        raise
    place_server(addition, environment, request.values())
    report_addition(addition, environment, answers, as_json=as_json)


def _try(
    addition: Addition, request: Request, tool: str, arguments: str, decide: Decide
) -> tuple[Addition, JSONObject]:
    try:
        wanted = strict_json.loads_object(arguments)
    except ValueError as error:
        raise InputError(f"The arguments for {tool} are no JSON object: {error}.") from None
    note(f"Calling {tool}.")
    return try_tool(addition, request.values(), tool, wanted, request.seconds, decide)
