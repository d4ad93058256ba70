"""`ferrule show`: all that is known of one tool."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ferrule.admin import permission_status, wrapper_status
from ferrule.admin.credential_status import CredentialStatus, statuses
from ferrule.admin.doctor import extra_status, program_status
from ferrule.admin.tool_lock import differences
from ferrule.cli.output import (
    coloured,
    counted,
    home_as_tilde,
    plain,
    print_fact,
    print_indented,
    print_json,
    print_table,
    print_text,
)
from ferrule.cli.selection import complete, entries, json_option
from ferrule.cli.tools.tool_list import sources
from ferrule.config import configuration
from ferrule.config.client_folders import client_folders
from ferrule.installed.inventory import CLASH, DIFFERS, DISABLED, OK, Entry
from ferrule.links.linked_executables import links
from ferrule.plugin.declaration import HINTS
from ferrule.schema.parameters import Parameter, list_parameters
from ferrule.text.names import executable_name
from ferrule.text.strict_json import dumps
from ferrule.trust.description import phrases

if TYPE_CHECKING:
    from ferrule.admin.permission_status import PermissionStatus
    from ferrule.installed.inventory import ResultPolicyFacts
    from ferrule.plugin.declaration import Declaration
    from ferrule.text.json_types import JSONObject


@click.command("show")
@click.argument("tool", shell_complete=complete)
@json_option
def command(tool: str, as_json: bool) -> int:
    """Show a tool: its state, its distribution, what it takes, declares, needs and may touch, its links.

    The plugin is loaded, in a process of its own. --json has the whole schema; no credential's value is ever shown.

    \b
    Example: ferrule show web_fetch

    Exit code: 1 where the tool is not installed, broken, invalid, held or in a clash; 0 otherwise.
    """
    (entry,) = entries([tool], load=True)
    credentials = statuses(entry)
    linked = [path for folder in client_folders() for path, facts in links(folder) if facts["tool"] == tool]
    tools = [entry.tool] if entry.state not in (CLASH, DIFFERS) else []
    programs = program_status.statuses(tools, configuration.read())
    extras = extra_status.statuses(tools)
    permissions = permission_status.statuses(tools, configuration.read())
    if as_json:
        needs = {"programs": [one.as_dict() for one in programs], "extras": [one.as_dict() for one in extras]}
        may = {"permissions": permissions[0].as_dict() if permissions else None}
        print_json({**_document(entry, credentials, linked), **needs, **may})
    else:
        needed = [fact for one in permissions for fact in _about_permissions(one)]
        needed += [("Program", f"{one.state}: {one.describe()}") for one in programs]
        needed += [("Module", f"{one.module}, {one.state}: {one.describe()}".rstrip(": ")) for one in extras]
        _print(entry, credentials, linked, needed)
    return int(entry.state not in (OK, DISABLED))


def _document(entry: Entry, credentials: list[CredentialStatus], linked: list[str]) -> JSONObject:
    return {
        **entry.as_dict(),
        "schema": entry.schema,
        "credentials": [status.as_dict() for status in credentials],
        "links": linked,
        "results": entry.results,
        "wrappers": [one.as_dict() for one in wrapper_status.statuses(configuration.read())],
    }


def _print(entry: Entry, credentials: list[CredentialStatus], linked: list[str], needed: list[tuple[str, str]]) -> None:
    click.echo(f"{click.style(plain(entry.name), bold=True)}  {coloured(entry.state)}")
    if entry.error:
        print_indented(entry.error.message, entry.error.fix)
    if entry.state == DIFFERS:
        print_indented(*differences(entry.tool, configuration.read()))
    for heading, text in _facts(entry, linked) + needed:
        print_fact(heading, text)
    if isinstance(entry.schema, dict):
        _print_schema(entry.schema)
    if credentials:
        click.echo("\nCredentials")
        rows = [(status.name, status.state, status.where(), status.url) for status in credentials]
        print_table(("NAME", "STATE", "LOOKED UP IN", "GET ONE"), rows)


def _facts(entry: Entry, linked: list[str]) -> list[tuple[str, str]]:
    warnings = sum(finding.severity == "warning" for finding in entry.findings)
    facts = [
        *([("Title", entry.declaration.title)] if entry.declaration.title else []),
        ("Distribution", sources(entry)),
        ("Entry point", entry.tool.value),
        ("Executable", executable_name(entry.name)),
        ("Linked as", ", ".join(map(home_as_tilde, linked)) or "nothing that the client reads"),
    ]
    wrappers = [one.name for one in wrapper_status.statuses(configuration.read()) if one.state == wrapper_status.ON]
    if wrappers:
        facts.append(("Wrapped by", ", ".join(wrappers)))
    if entry.results:
        facts.append(("Results", _about_results(entry.results)))
    if hints := _about_hints(entry.declaration):
        facts.append(("Hints", hints))
    if entry.declaration.requires_ferrule:
        facts.append(("Requires", f"ferrule {entry.declaration.requires_ferrule}"))
    facts += [("Example", dumps(example).decode()) for example in entry.declaration.examples]
    if warnings:
        facts.append(("Schema", f"{counted(warnings, 'warning')}; see `ferrule validate {entry.name}`"))
    return facts + [("Warning", f"{warning.message} {warning.fix}") for warning in entry.warnings]


def _about_permissions(one: PermissionStatus) -> list[tuple[str, str]]:
    facts = [
        ("May", "; ".join(one.words())),
        ("Here", "; ".join(one.places)),
        ("Widened", "; ".join(phrases(one.widened))),
        ("Not granted", "; ".join(phrases(one.narrowed))),
        ("Not told", " ".join(one.not_told())),
        ("Not held here", " ".join(one.unenforced)),
    ]
    return [(heading, text) for heading, text in facts if text]


def _about_hints(declaration: Declaration) -> str:
    """What the tool says of itself to clients, as in `read-only, idempotent, not open-world`."""
    told = {hint: getattr(declaration, hint) for hint in HINTS}
    words = [("" if value else "not ") + hint.replace("_", "-") for hint, value in told.items() if value is not None]
    return ", ".join(words)


def _about_results(results: ResultPolicyFacts) -> str:
    seconds = results["cache_seconds"]
    cached = f"may be cached for {seconds:,} s" if seconds else "are never cached"
    paging = f"; paged by {', '.join(results['paging'])}" if results["paging"] else ""
    return f"{cached}; {'may be linked' if results['linkable'] else 'are linked only where they are too large'}{paging}"


def _print_schema(schema: JSONObject) -> None:
    click.echo()
    print_text(schema.get("description", ""))
    rows = [_row(parameter) for parameter in list_parameters(schema)]
    if rows:
        click.echo("\nParameters")
        print_table(("NAME", "TYPE", "REQUIRED", "LIMITS", "DESCRIPTION"), rows)
    else:
        click.echo("\nIt takes no parameters.")


def _row(parameter: Parameter) -> tuple[str, ...]:
    required = "yes" if parameter.required else "no"
    return parameter.path, parameter.type, required, parameter.limits, parameter.description
