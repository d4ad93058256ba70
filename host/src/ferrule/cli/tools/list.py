"""`ferrule list`: which tools are installed, and in which state each is."""

from __future__ import annotations

import click

from ferrule.cli.selection import json_option
from ferrule.cli.tools.tool_list import print_tools


@click.command("list")
@click.option("--check", is_flag=True, help="Load each plugin, in a process of its own, and check its schema.")
@json_option
def command(check: bool, as_json: bool) -> int:
    """List the installed tools: name, state, distribution, and what it does or why it cannot; then the wrappers.

    With --check also the programs and modules that tools need: which was found, and how to get what is missing; the
    warnings of what this ferrule does not know of a tool; what packages bring that runs in ferrule itself, outside of
    any call; and which model providers refuse every request with a tool in it, as the client sends its schema. Without
    --check nothing of a plugin is imported, and a tool that may be well is `unchecked`. The other states are `ok`,
    `broken`, `clash`, `invalid`, `disabled`, and `held` for a tool that asks for more permissions than were accepted. A
    wrapper is `on`, `off`, or `broken`, on or not. What config.toml lets a tool do beyond its own declaration is
    listed. --json has what each tool declares, and also what runs in ferrule itself and is known as harmless.

    \b
    Example: ferrule list --check --json

    Exit code: 1 where --check finds a tool that is broken, invalid, held or in a clash, or a wrapper that is broken; 0
    otherwise.
    """
    return print_tools(check=check, as_json=as_json)
