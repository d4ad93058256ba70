"""What the admin is shown of a server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ferrule.cli import counted, note, plain, print_indented, print_json, print_table
from ferrule_mcp.installation.rights import list_rights

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferrule.text.json_types import JSONObject
    from ferrule_mcp.environment.record import Environment
    from ferrule_mcp.installation.addition import Addition
    from ferrule_mcp.record import ServerRecord

_MAX_SHOWN_CHARACTERS = 60


def report_addition(
    addition: Addition, environment: Environment | None, answers: Sequence[JSONObject], *, as_json: bool
) -> None:
    """Say what was added: the tools, what they lost, what the server may, and what it wanted besides."""
    record = addition.record
    if as_json:
        wanted = [{"key": one.key, "entry": one.entry} for one in addition.wanted]
        print_json({**describe(record, environment), "wanted": wanted, "tried": list(answers)})
        return
    click.echo(f"{record['name']}: {counted(len(record['tools']), 'tool')}")
    print_tools(record)
    for one in answers:
        click.echo(f"{plain(str(one['tool']))} answered: {plain(str(one['answer']))}")
    print_rights(record)
    for sentence in record["notes"]:
        note(plain(sentence))
    if addition.wanted:
        note("It wanted as well, and was refused:")
        for right in addition.wanted:
            note(f"  {plain(right.words())}")
        note(f"To grant it: ferrule permissions grant {next(iter(record['tools']))} …, or add it again with --allow.")
    click.echo(f"Next: ferrule link {' '.join(record['tools'])}")


def print_tools(record: ServerRecord) -> None:
    """A table of the tools: ferrule's name, the server's, and what is lost."""
    rows = [
        [shown, plain(one["name"])[:_MAX_SHOWN_CHARACTERS], "; ".join(map(plain, one["lost"])) or "nothing"]
        for shown, one in record["tools"].items()
    ]
    print_table(["TOOL", "OF THE SERVER", "LOST"], rows)


def print_rights(record: ServerRecord) -> None:
    """What the server may, in words."""
    rights = list_rights(record["permissions"])
    network = [one.entry for one in rights if one.key == "network"]
    click.echo("It may:")
    for right in rights:
        print_indented(plain(right.words()))
    if not network:
        print_indented("no network")


def describe(record: ServerRecord, environment: Environment | None) -> JSONObject:
    """A server as JSON."""
    kept = ("name", "transport", "command", "url", "folder", "home", "roots", "era", "server", "instructions", "notes")
    facts: JSONObject = {key: record[key] for key in kept}  # type: ignore[literal-required] # each is a key of it
    return {
        **facts,
        "credentials": record["credentials"],
        "permissions": record["permissions"],
        "environment": environment.to_json() if environment else None,
        "tools": [{"tool": shown, "name": one["name"], "lost": one["lost"]} for shown, one in record["tools"].items()],
    }
