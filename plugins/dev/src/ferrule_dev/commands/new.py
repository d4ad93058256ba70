"""Start a plugin of your own."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from ferrule.cli import BUILT_IN, json_option, note, plain, print_json
from ferrule.errors import FerruleError
from ferrule.text.names import executable_name
from ferrule_dev.creation import plugin_names
from ferrule_dev.creation.template_texts import MAX_DESCRIPTION_CHARS, fits
from ferrule_dev.creation.templates import DEFAULT, Template, create, names_in_use, templates

if TYPE_CHECKING:
    from collections.abc import Callable

_KINDS = templates()


def _kind_options(command: Callable[..., int]) -> Callable[..., int]:
    """An option for each template but the default one."""
    for kind, template in reversed(_KINDS.items()):
        if kind != DEFAULT:
            command = click.option(f"--{kind}", f"is_{kind}", is_flag=True, help=template.purpose)(command)
    return command


def _one_line(_context: click.Context, parameter: click.Parameter, value: str) -> str:
    if not fits(value.strip()):
        raise click.BadParameter(
            f"It has to be one line of at most {MAX_DESCRIPTION_CHARS} letters; more can be written in the files.",
            param=parameter,
        )
    return value.strip()


@click.command("new")
@click.argument("name")
@_kind_options
@click.option("--description", default="", metavar="TEXT", callback=_one_line, help="What it does, as one sentence.")
@click.option(
    "--author", default="", metavar="TEXT", callback=_one_line, help="Who writes it: 'Ann Smith <ann@example.org>'."
)
@click.option("--to", "parent", type=click.Path(), default=".", metavar="DIR", help="Where to put it; here by default.")
@json_option
def command(name: str, description: str, author: str, parent: str, as_json: bool, **kinds: bool) -> int:
    """Write a plugin that works into the new folder ferrule-NAME: package, description, tests, README, workflow.

    Without an option it is a tool that is one Python function.

    \b
    Example:
      ferrule new weather --description "Tells the weather of a city."
      ferrule new lighthouse --search --author "Ann Smith <ann@example.org>"

    Exit code: 1 where NAME is no good name, or the folder is there already; 2 for two kinds at once; 0 otherwise.
    """
    template = _chosen([kind.removeprefix("is_") for kind, is_chosen in kinds.items() if is_chosen])
    tool = template.tool.format(name)
    plugin_names.require_usable(name, tool, names_in_use(template))
    if template.kind == "command" and name in BUILT_IN:
        raise FerruleError(f"ferrule has a command {name} itself.", hint="Choose another name.")
    warnings = plugin_names.warnings(name, tool, template.group)
    target = create(template, name, os.path.expanduser(parent), description=description, author=author)
    if as_json:
        facts = {"kind": template.kind, "name": name, "tool": tool or None, "path": os.path.abspath(target)}
        print_json({**facts, "warnings": warnings})
        return 0
    for warning in warnings:
        note(f"warning: {warning}")
    _print_steps(template, name, target)
    return 0


def _chosen(kinds: list[str]) -> Template:
    if len(kinds) > 1:
        raise click.UsageError(f"It is one of --{' and --'.join(kinds)}, not both.")
    return _KINDS[kinds[0] if kinds else DEFAULT]


def _print_steps(template: Template, name: str, target: str) -> None:
    shown = target if os.path.isabs(target) else os.path.join(".", os.path.normpath(target))
    tool = template.tool.format(name)
    steps = [step.format(tool=tool, name=name, executable=executable_name(tool)) for step in template.steps]
    click.echo(f"Wrote {plain(shown)}. Next:")
    for step in (f"cd {shown}", "pip install -e '.[dev]'", *steps, "pytest"):
        click.echo(f"  {plain(step)}")
