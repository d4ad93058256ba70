"""`ferrule completion`: what a shell needs to complete commands, options and the names of tools."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from ferrule.cli.output import print_json
from ferrule.cli.selection import json_option


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@json_option
def command(shell: str, as_json: bool) -> int:
    """Print a script that makes SHELL complete commands, options and the names of installed tools.

    \b
    Example:
      ferrule completion bash > ~/.local/share/bash-completion/completions/ferrule

    Exit code: 0.
    """
    from ferrule.cli.program import program

    kind = get_completion_class(shell)
    assert kind is not None  # noqa: S101 - click has all three
    # The base class's source: bash's own would start bash to look at its version.
    script = kind(program, {}, "ferrule", "_FERRULE_COMPLETE").source()
    if as_json:
        print_json({"shell": shell, "script": script})
    else:
        click.echo(script)
    return 0
