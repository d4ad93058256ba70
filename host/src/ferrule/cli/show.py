"""`ferrule show`: all that is known of one tool."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ferrule.admin import program_status, wrapper_status
from ferrule.admin.credential_status import CredentialStatus, statuses
from ferrule.admin.inventory import CLASH, DISABLED, OK, Entry
from ferrule.admin.linked_executables import links
from ferrule.cli.list import sources
from ferrule.cli.output import coloured, counted, home_as_tilde, plain, print_indented, print_json, print_table
from ferrule.cli.selection import complete, entries, json_option
from ferrule.config import configuration
from ferrule.config.client_folders import client_folders
from ferrule.schema.parameters import Parameter, list_parameters
from ferrule.text.names import executable_name

if TYPE_CHECKING:
    from ferrule.admin.inventory import ResultPolicyFacts
    from ferrule.admin.program_status import ProgramStatus
    from ferrule.text.json_types import JSONObject


@click.command("show")
@click.argument("tool", shell_complete=complete)
@json_option
def command(tool: str, as_json: bool) -> int:
    """Show a tool: its state, its distribution, what it takes, which credentials and programs it needs, its links.

    The plugin is loaded, in a process of its own. --json has the whole schema; no credential's value is ever shown.

    \b
    Example: ferrule show web_fetch

    Exit code: 1 where the tool is not installed, broken, invalid or in a clash; 0 otherwise.
    """
    (entry,) = entries([tool], load=True)
    credentials = statuses(entry)
    linked = [path for folder in client_folders() for path, facts in links(folder) if facts["tool"] == tool]
    programs = program_status.statuses([entry.tool] if entry.state != CLASH else [], configuration.read())
    if as_json:
        print_json({**_document(entry, credentials, linked), "programs": [one.as_dict() for one in programs]})
    else:
        _print(entry, credentials, linked, programs)
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


def _print(entry: Entry, credentials: list[CredentialStatus], linked: list[str], programs: list[ProgramStatus]) -> None:
    click.echo(f"{click.style(plain(entry.name), bold=True)}  {coloured(entry.state)}")
    if entry.error:
        print_indented(entry.error.message, entry.error.hint)
    needed = [("Program", f"{one.state}: {one.describe()}") for one in programs]
    for heading, text in _facts(entry, linked) + needed:
        click.echo(f"  {heading:<13} {plain(text)}")
    if isinstance(entry.schema, dict):
        _print_schema(entry.schema)
    if credentials:
        click.echo("\nCredentials")
        rows = [(status.name, status.state, status.where(), status.url) for status in credentials]
        print_table(("NAME", "STATE", "LOOKED UP IN", "GET ONE"), rows)


def _facts(entry: Entry, linked: list[str]) -> list[tuple[str, str]]:
    warnings = sum(finding.severity == "warning" for finding in entry.findings)
    facts = [
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
    if warnings:
        facts.append(("Schema", f"{counted(warnings, 'warning')}; see `ferrule validate {entry.name}`"))
    return facts


def _about_results(results: ResultPolicyFacts) -> str:
    seconds = results["cache_seconds"]
    cached = f"may be cached for {seconds:,} s" if seconds else "are never cached"
    paging = f"; paged by {', '.join(results['paging'])}" if results["paging"] else ""
    return f"{cached}; {'may be linked' if results['linkable'] else 'are never linked'}{paging}"


def _print_schema(schema: JSONObject) -> None:
    click.echo(f"\n{plain(schema.get('description', ''))}")
    rows = [_row(parameter) for parameter in list_parameters(schema)]
    if rows:
        click.echo("\nParameters")
        print_table(("NAME", "TYPE", "REQUIRED", "LIMITS", "DESCRIPTION"), rows)
    else:
        click.echo("\nIt takes no parameters.")


def _row(parameter: Parameter) -> tuple[str, ...]:
    required = "yes" if parameter.required else "no"
    return parameter.path, parameter.type, required, parameter.limits, parameter.description
