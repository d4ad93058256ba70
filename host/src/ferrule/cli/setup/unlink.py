"""`ferrule unlink`: removes executables that `ferrule link` wrote, and nothing else."""

from __future__ import annotations

import os

import click

from ferrule.cli.output import home_as_tilde, print_json, print_text
from ferrule.cli.selection import json_option
from ferrule.config.client_folders import user_folder
from ferrule.errors import FerruleError
from ferrule.links import linked_executables
from ferrule.text.names import executable_name

TYPE_CHECKING = False

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from ferrule.text.json_types import JSONObject

REMOVED, REFUSED = "removed", "refused"


def _complete(context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    linked = linked_executables.links(_folder(context.params.get("folder")))
    return [CompletionItem(facts["name"]) for _, facts in linked if facts["name"].startswith(incomplete)]


@click.command("unlink")
@click.argument("tools", nargs=-1, metavar="[TOOL]...", shell_complete=_complete)
@click.option("--from", "folder", type=click.Path(), metavar="DIR", help="The folder; ~/.ikigai/tools by default.")
@click.option("--all", "everything", is_flag=True, help="Remove all that ferrule wrote there.")
@json_option
def command(tools: tuple[str, ...], folder: str | None, everything: bool, as_json: bool) -> int:
    """Remove the executables of TOOL, by its own name or by the one that it is linked under.

    The tool need not be installed any more. A file that `ferrule link` did not write is never removed.

    \b
    Examples:
      ferrule unlink web_fetch
      ferrule unlink --all --from ./.ikigai/tools

    Exit code: 1 where a TOOL is not linked there or its executable cannot be removed, 0 otherwise.
    """
    if bool(tools) == everything:
        raise click.UsageError("Say which tools, or --all.")
    results = _unlink(tools, _folder(folder))
    if as_json:
        print_json({"folder": _folder(folder), "links": results})
    else:
        for result in results:
            what = home_as_tilde(result["path"]) if result["path"] else result["tool"]
            print_text(f"{result['result']} {what}{result['reason'] and ': ' + result['reason']}", hanging=2)
    return int(any(result["result"] == REFUSED for result in results))


def _folder(folder: str | None) -> str:
    return os.path.abspath(os.path.expanduser(folder)) if folder else user_folder()


def _unlink(tools: tuple[str, ...], folder: str) -> list[JSONObject]:
    linked = list(linked_executables.links(folder))
    if not tools:
        return [_remove(path, facts["tool"]) for path, facts in linked]
    results = []
    for tool in dict.fromkeys(tools):
        paths = [path for path, facts in linked if tool in (facts["tool"], facts["name"])]
        results += [_remove(path, tool) for path in paths] or [_describe_unlinked(tool, folder)]
    return results


def _remove(path: str, tool: str) -> JSONObject:
    try:
        linked_executables.remove(path)
    except FerruleError as error:
        return {"tool": tool, "result": REFUSED, "path": None, "reason": error.message}
    return {"tool": tool, "result": REMOVED, "path": path, "reason": ""}


def _describe_unlinked(tool: str, folder: str) -> JSONObject:
    """Why there is nothing to remove: there is no file, or one of somebody else."""
    path = os.path.join(folder, executable_name(tool))
    reason = f"It is not linked in {home_as_tilde(folder)}."
    if os.path.lexists(path):
        reason = f"{path} was not written by ferrule, so it stays."
    return {"tool": tool, "result": REFUSED, "path": None, "reason": reason}
