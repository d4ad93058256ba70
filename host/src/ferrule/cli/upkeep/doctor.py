"""`ferrule doctor`: what is wrong with this installation, and how to fix it."""

from __future__ import annotations

import click

from ferrule.admin.doctor import plugin_diagnoses, requirement_diagnosis
from ferrule.admin.doctor.diagnosis import examine
from ferrule.admin.doctor.diagnosis_entry import ERROR, NOTE, WARNING, Diagnosis
from ferrule.cli.output import counted, print_finding, print_json
from ferrule.cli.selection import json_option
from ferrule.cli.upkeep import command_diagnosis


@click.command("doctor")
@click.option(
    "--folder", "folders", multiple=True, type=click.Path(), metavar="DIR", help="Look for links in DIR, too."
)
@json_option
def command(folders: tuple[str, ...], as_json: bool) -> int:
    """Find what is wrong: broken plugins, links out of date, folders the client does not read, credentials, modes.

    Every plugin and every command is loaded, in a process of its own; nothing is changed. Looked at are the folders
    that the client reads (its system folder, ~/.ikigai/tools, ./.ikigai/tools) and each DIR; programs of others in them
    are run with --schema, as the client does. It also says which tools a model provider refuses every request for, and
    what packages bring that runs in ferrule itself, outside of any call.

    \b
    Example: ferrule doctor --folder ~/tools

    Exit code: 1 if there is an error; 0 otherwise, also with warnings and notes.
    """
    # Loaded before the credentials file is read, of which they must see nothing.
    of_others = [*command_diagnosis.examine(), *plugin_diagnoses.examine(), *requirement_diagnosis.examine()]
    found = [*examine(folders), *of_others]
    errors = sum(one.severity == ERROR for one in found)
    if as_json:
        print_json({"healthy": not errors, "findings": [one.as_dict() for one in found]})
    else:
        _print(found)
    return int(bool(errors))


def _print(found: list[Diagnosis]) -> None:
    for severity in (ERROR, WARNING, NOTE):
        for one in found:
            if one.severity == severity:
                print_finding(one.as_dict(), one.subject)
    numbers = [(sum(one.severity == severity for one in found), severity) for severity in (ERROR, WARNING, NOTE)]
    told = ", ".join(counted(number, severity) for number, severity in numbers if number)
    click.echo(f"{told}." if told else "All is well.")
