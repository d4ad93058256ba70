"""`ferrule link`: writes the executables that the client starts."""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING

import click

from ferrule import discovery
from ferrule.admin import linked_executables
from ferrule.admin.inventory import DISABLED, OK, Entry
from ferrule.cli.output import home_as_tilde, note, plain, print_indented, print_json
from ferrule.cli.selection import entries, json_option, tools_argument
from ferrule.config.client_folders import client_folders, user_folder
from ferrule.errors import FerruleError, LinkRefused
from ferrule.schema.rules import check
from ferrule.text.aliases import with_prefix
from ferrule.text.names import is_tool_name

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONObject

LINKED, UNCHANGED, REFUSED, SKIPPED = "linked", "unchanged", "refused", "skipped"


@click.command("link")
@tools_argument
@click.option("--to", "folder", type=click.Path(), metavar="DIR", help="The folder; ~/.ikigai/tools by default.")
@click.option("--as", "alias", metavar="NAME", help="Another name for the one TOOL.")
@click.option("--prefix", metavar="OLD=NEW", help="Another beginning for the names of all tools that start with OLD.")
@json_option
def command(tools: tuple[str, ...], folder: str | None, alias: str | None, prefix: str | None, as_json: bool) -> int:
    """Write an executable for each TOOL, or for all that are well, where the client finds it.

    Each plugin is loaded and its schema checked first; what is not well is refused, and the others are linked. The
    executable answers --schema by itself, and notices when it is out of date. Other names are used in the schemas,
    too, and wherever a description names one of the tools.

    \b
    Examples:
      ferrule link
      ferrule link web_fetch --to ./.ikigai/tools --as fetch
      ferrule link --prefix web_=net_

    Exit code: 1 where a tool was refused, 0 otherwise. A disabled tool is skipped, unless it is named.
    """
    installed = sorted(discovery.scan())
    names = _names(tools, installed, alias, prefix)
    target = os.path.abspath(os.path.expanduser(folder)) if folder else user_folder()
    results = _link(tools, names, target)
    if as_json:
        print_json({"folder": target, "tools": results})
    else:
        _print(results, target)
    return int(any(result["result"] == REFUSED for result in results))


def _names(tools: tuple[str, ...], installed: list[str], alias: str | None, prefix: str | None) -> dict[str, str]:
    """The other names that tools get, by their own. They hold for all installed tools, since texts name siblings."""
    names: dict[str, str] = {}
    if prefix is not None:
        old, sign, new = prefix.partition("=")
        if not sign or not old:
            raise click.BadParameter("OLD=NEW is expected, as in web_=net_.", param_hint="--prefix")
        names = {tool: name for tool, name in with_prefix(installed, old, new).items() if tool != name}
        if not names:
            raise LinkRefused(f"No installed tool has a name that starts with {old!r} and would change.")
    if alias is not None:
        if len(set(tools)) != 1:
            raise click.UsageError("--as names one tool; say which: ferrule link TOOL --as NAME.")
        if not is_tool_name(alias):
            raise click.BadParameter(
                f"{alias!r} is no tool's name: letters, digits and underscores are.", param_hint="--as"
            )
        names[tools[0]] = alias
    return names


def _link(tools: tuple[str, ...], names: dict[str, str], folder: str) -> list[JSONObject]:
    found = list(entries(tools, load=True))
    wanted = Counter(names.get(entry.name, entry.name) for entry in found)
    results = []
    for entry in found:
        name = names.get(entry.name, entry.name)
        result = {"tool": entry.name, "name": name, "result": REFUSED, "path": None, "reason": None, "hint": None}
        try:
            _refuse(entry, name, wanted[name])
            result.update(_write(linked_executables.Link(entry.tool, entry.schema or {}, names), folder))
        except FerruleError as error:
            is_skipped = entry.state == DISABLED and not tools
            result.update({"reason": error.message, "hint": error.hint, "result": SKIPPED if is_skipped else REFUSED})
        results.append(result)
    return results


def _refuse(entry: Entry, name: str, wanted: int) -> None:
    if entry.state != OK:
        raise entry.error or LinkRefused(f"{entry.name} is {entry.state}.")
    if not is_tool_name(name):
        raise LinkRefused(f"{name!r} is no tool's name: letters, digits and underscores are.")
    if wanted > 1:
        raise LinkRefused(f"{wanted} tools would get the name {name!r}.", hint="Link them one by one, with --as.")


def _write(link: linked_executables.Link, folder: str) -> JSONObject:
    """Write one executable, unless its schema is not valid any more under its other name."""
    errors = [finding for finding in check(link.schema, name=link.name) if finding.severity == "error"]
    if errors:
        raise LinkRefused(f"As {link.name}, {errors[0].message}", hint=errors[0].mend)
    is_new = linked_executables.write(link, folder)
    return {"result": LINKED if is_new else UNCHANGED, "path": os.path.join(folder, link.file_name())}


def _print(results: list[JSONObject], folder: str) -> None:
    for result in results:
        if result["path"]:
            click.echo(f"{result['result']} {plain(home_as_tilde(result['path']))}")
        else:
            click.echo(f"{result['result']} {plain(result['tool'])}: {plain(result['reason'])}")
            print_indented(result["hint"])
    if not results:
        click.echo("No tools are installed.")
    folders = client_folders()
    if any(result["path"] for result in results) and folder not in folders:
        known = ", ".join(map(home_as_tilde, folders))
        note(f"ikigai reads {known} and the folder of its installation; link there what it shall find.")
