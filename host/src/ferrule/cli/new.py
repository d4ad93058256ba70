"""`ferrule new`: starts a plugin of one's own."""

from __future__ import annotations

import os

import click

from ferrule.admin.template import create
from ferrule.cli.output import plain, print_json
from ferrule.cli.selection import json_option


@click.command("new")
@click.argument("name")
@click.option("--to", "parent", type=click.Path(), default=".", metavar="DIR", help="Where to put it; here by default.")
@json_option
def command(name: str, parent: str, as_json: bool) -> int:
    """Write a small plugin that works into the new folder ferrule-NAME: package, schema, tests, README.

    \b
    Example:
      ferrule new weather && pip install -e ./ferrule-weather
      ferrule validate weather && ferrule run weather city=Oslo

    Exit code: 1 where NAME is no good name for a tool, or the folder is there already; 0 otherwise.
    """
    target = create(name, os.path.expanduser(parent))
    if as_json:
        print_json({"tool": name, "path": os.path.abspath(target)})
        return 0
    shown = target if os.path.isabs(target) else os.path.join(".", os.path.normpath(target))
    click.echo(f"Wrote {plain(shown)}. Next:")
    for line in (f"pip install -e {shown}", f"ferrule validate {name}", f"ferrule run {name} city=Oslo"):
        click.echo(f"  {plain(line)}")
    return 0
