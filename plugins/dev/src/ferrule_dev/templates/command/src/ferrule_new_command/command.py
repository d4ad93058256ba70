"""Greet by name."""

from __future__ import annotations

import click
from ferrule.cli import json_option, print_json
from ferrule.errors import FerruleError


@click.command()
@click.argument("name")
@json_option
def command(name: str, as_json: bool) -> int:
    """Greet NAME.

    Example: ferrule new_command Ann

    Exit code: 1 where NAME is no name; 0 otherwise.
    """
    if name.isdigit():
        raise FerruleError(f"{name} is no name.", hint="Write it in letters.")
    greeting = f"Hello, {name}!"
    if as_json:
        print_json({"greeting": greeting})
    else:
        click.echo(greeting)
    return 0
