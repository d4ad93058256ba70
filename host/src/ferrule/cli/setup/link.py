"""`ferrule link`: writes the executables that the client starts."""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING

import click

from ferrule import discovery
from ferrule.admin import permission_status, tool_lock
from ferrule.admin.packages.bytecode import compile_files, find_uncompiled
from ferrule.admin.provider_refusals import explain, refusals, remedy
from ferrule.cli.output import home_as_tilde, note, print_indented, print_json, print_text
from ferrule.cli.selection import accept_own, entries, json_option, tools_argument
from ferrule.config import configuration
from ferrule.config.client_folders import client_folders, user_folder
from ferrule.errors import FerruleError, LinkError
from ferrule.installed.inventory import DIFFERS, DISABLED, OK, Entry
from ferrule.links import linked_executables
from ferrule.schema.providers.profiles import PROFILES
from ferrule.schema.rules import Finding, check
from ferrule.text.aliases import with_prefix
from ferrule.text.names import CLIENT_TOOLS, is_tool_name
from ferrule.trust import records
from ferrule.trust.authorship import own_folder
from ferrule.trust.places import indirect_places

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ferrule.text.json_types import JSONObject

_TOLD = ("tool-name-convention", "schema-varies")  # warnings that concern who links the tool
_WRAPPERS = "ferrule.wrappers."
LINKED, UNCHANGED, REFUSED, SKIPPED = "linked", "unchanged", "refused", "skipped"


@click.command("link")
@tools_argument
@click.option("--to", "folder", type=click.Path(), metavar="DIR", help="The folder; ~/.ikigai/tools by default.")
@click.option("--as", "alias", metavar="NAME", help="Another name for the one TOOL.")
@click.option("--prefix", metavar="OLD=NEW", help="Another beginning for the names of all tools that start with OLD.")
@click.option(
    "--for", "provider", type=click.Choice(list(PROFILES)), help="Write the schemas in words that this provider takes."
)
@json_option
def command(
    tools: tuple[str, ...],
    folder: str | None,
    alias: str | None,
    prefix: str | None,
    provider: str | None,
    as_json: bool,
) -> int:
    """Write an executable for each TOOL, or for all that are well, where the client finds it.

    Each plugin is loaded and its schema checked first; what is not well is refused, and the others are linked. The
    executable answers --schema by itself, and notices when it is out of date. What each tool may touch is printed.
    Other names are used in the schemas, too, and wherever a description names one of the tools. stderr has a line for
    each tool with which a provider refuses every request. --for writes what that provider refuses in other words, says
    what has changed, and has each call translated back. What the tools import is compiled where an installer has not
    done that, as uv does not: each call would compile it anew.

    \b
    Examples:
      ferrule link
      ferrule link web_fetch --to ./.ikigai/tools --as fetch
      ferrule link --prefix web_=net_
      ferrule link --for gemini

    Exit code: 1 where a tool was refused, 0 otherwise. A disabled tool is skipped, unless it is named, and so is a tool
    of a wrapper that is off.
    """
    installed = sorted(discovery.scan())
    names = _names(tools, installed, alias, prefix)
    target = os.path.abspath(os.path.expanduser(folder)) if folder else user_folder()
    accept_own(tools)
    results = _link(tools, names, target, provider or "")
    compiled = _compile([result["tool"] for result in results if result["path"]])
    if as_json:
        print_json({"folder": target, "tools": results, "compiled_files": compiled})
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
            raise LinkError(f"No installed tool has a name that starts with {old!r} and would change.")
    if alias is not None:
        if len(set(tools)) != 1:
            raise click.UsageError("--as names one tool; say which: ferrule link TOOL --as NAME.")
        if not is_tool_name(alias):
            raise click.BadParameter(
                f"{alias!r} is no tool's name: letters, digits and underscores are.", param_hint="--as"
            )
        names[tools[0]] = alias
    return names


def _link(tools: tuple[str, ...], names: dict[str, str], folder: str, provider: str) -> list[JSONObject]:
    found = list(entries(tools, load=True))
    wanted = Counter(names.get(entry.name, entry.name) for entry in found)
    results = []
    for entry in found:
        name = names.get(entry.name, entry.name)
        result: JSONObject = {
            "tool": entry.name,
            "name": name,
            "result": REFUSED,
            "path": None,
            "reason": None,
            "hint": None,
        }
        if not tools and entry.state == OK and _is_of_wrapper_that_is_off(entry):
            reason = "The wrapper that it belongs to is off. Name the tool to link it all the same."
            results.append({**result, "result": SKIPPED, "reason": reason})
            continue
        try:
            _refuse(entry, name, wanted[name])
            link = linked_executables.Link(entry.tool, entry.schema or {}, names, provider)
            result.update(_write(link, folder, entry.findings))
        except FerruleError as error:
            is_skipped = entry.state == DISABLED and not tools
            result.update({"reason": error.message, "hint": error.fix, "result": SKIPPED if is_skipped else REFUSED})
            if entry.state == DIFFERS:
                result["differences"] = list(tool_lock.differences(entry.tool, configuration.read()))
        results.append(result)
    return results


def _compile(tools: Sequence[str]) -> int:
    """Compile what these tools import and no installer has compiled; how many files that were."""
    claims = discovery.scan() if tools else {}
    distributions = {claims[name][0].distribution for name in tools if name in claims}
    uncompiled = find_uncompiled(distributions) if distributions else {}
    number = sum(map(len, uncompiled.values()))
    if number:
        note(f"Compiling {number:,} files that the installer has left as source; each call would do it anew.")
    return sum(map(compile_files, uncompiled.values()))


def _is_of_wrapper_that_is_off(entry: Entry) -> bool:
    """Whether the tool belongs to a wrapper of the host, such as the one that reads artifacts, and that is off."""
    if not entry.tool.module.startswith(_WRAPPERS):
        return False
    return entry.tool.module.removeprefix(_WRAPPERS).partition(".")[0] not in configuration.read().wrappers()


def _refuse(entry: Entry, name: str, wanted: int) -> None:
    if entry.state != OK:
        raise entry.error or LinkError(f"{entry.name} is {entry.state}.")
    if not is_tool_name(name):
        raise LinkError(f"{name!r} is no tool's name: letters, digits and underscores are.")
    if wanted > 1:
        raise LinkError(f"{wanted} tools would get the name {name!r}.", hint="Link them one by one, with --as.")


def _write(link: linked_executables.Link, folder: str, known: list[Finding]) -> JSONObject:
    """Write one executable, unless its schema is not valid any more under its other name. known: of the tool itself."""
    findings = check(link.schema, name=link.name) + [one for one in known if one.id == "schema-varies"]
    errors = [finding for finding in findings if finding.severity == "error"]
    if errors:
        raise LinkError(f"As {link.name}, {errors[0].message}", hint=errors[0].fix)
    is_new, settings = linked_executables.write(link, folder), configuration.read()
    records.record_link(link.tool, is_own=own_folder(link.tool) is not None)
    status = permission_status.status(link.tool, settings)
    return {
        "result": LINKED if is_new else UNCHANGED,
        "path": os.path.join(folder, link.file_name()),
        "changes": link.changes,
        "warnings": [*_warnings(link, findings), *status.not_told()],
        "may": [*status.words(), *indirect_places(link.tool, settings)],
        "credentials": status.as_dict()["credentials"],
    }


def _warnings(link: linked_executables.Link, findings: list[Finding]) -> Iterator[str]:
    """What the client or a provider will do with this executable that its user may not want."""
    if link.name in CLIENT_TOOLS:
        yield "It takes the place of the client's own tool of this name; --as gives it another."
    yield from (finding.message for finding in findings if finding.id in _TOLD)
    refused = refusals(findings, [link.provider] if link.provider else PROFILES)
    if refused:
        yield f"{explain(refused)} What helps: {remedy(link.tool.name, refused)}"


def _print(results: list[JSONObject], folder: str) -> None:
    for result in results:
        if result["path"]:
            changes = "; ".join(result["changes"])
            place = home_as_tilde(result["path"])
            print_text(f"{result['result']} {place}{changes and f' ({changes})'}", hanging=2)
            print_indented("; ".join(result["may"]))
            for warning in result["warnings"]:
                note(f"{result['name']}: {warning}")
        else:
            print_text(f"{result['result']} {result['tool']}: {result['reason']}", hanging=2)
            print_indented(*result.get("differences", ()), result["hint"])
    if not results:
        click.echo("No tools are installed.")
    folders = client_folders()
    if any(result["path"] for result in results) and folder not in folders:
        known = ", ".join(map(home_as_tilde, folders))
        note(f"ikigai reads {known} and the folder of its installation; link there what it shall find.")
