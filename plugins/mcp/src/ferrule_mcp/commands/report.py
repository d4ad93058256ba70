"""What the admin is shown of a server."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

import click

from ferrule.cli import counted, note, plain, print_indented, print_json, print_table
from ferrule_mcp.installation.rights import list_rights

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferrule.text.json_types import JSONObject
    from ferrule_mcp.environment.record import Environment
    from ferrule_mcp.installation.addition import Addition
    from ferrule_mcp.installation.rights import Right
    from ferrule_mcp.record import ServerRecord

_MAX_SHOWN_CHARACTERS = 60
_MAX_ROWS, _MAX_NAMED, _MAX_WANTED = 12, 4, 8


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
        _tell_wanted(record["name"], addition.wanted)
    click.echo(f"Next: ferrule link {_name_all(list(record['tools']))}")


def _tell_wanted(name: str, wanted: Sequence[Right]) -> None:
    """What a server was refused that has started all the same: most of it is what libraries look for anywhere."""
    shown = [plain(one.words()) for one in wanted[:_MAX_WANTED]]
    if len(wanted) > _MAX_WANTED:
        shown.append(f"{len(wanted) - _MAX_WANTED} more, which --json has")
    note(f"It works without what else it wanted, and was refused: {', '.join(shown)}.")
    note(f"Where a tool turns out to need it: ferrule mcp grant {name} {shlex.quote(wanted[0].text())}")


def _name_all(tools: Sequence[str]) -> str:
    """The names of tools for a command line: a pattern where they are many and begin alike."""
    start = os.path.commonprefix(tools).rpartition("_")[0]  # noqa: RUF071 - of names
    return f"'{start}_*'" if len(tools) > _MAX_NAMED and start else " ".join(tools)


def print_tools(record: ServerRecord) -> None:
    """A table of the tools: ferrule's name, the server's, and what is lost. Of many, only what lost some."""
    tools = record["tools"].items()
    is_long = len(tools) > _MAX_ROWS
    rows = [
        [shown, plain(one["name"])[:_MAX_SHOWN_CHARACTERS], "; ".join(map(plain, one["lost"])) or "nothing"]
        for shown, one in tools
        if one["lost"] or not is_long
    ]
    if rows:
        print_table(["TOOL", "OF THE SERVER", "LOST"], rows)
    if is_long and len(rows) < len(tools):
        click.echo("Nothing is lost of:")
        print_indented(", ".join(shown for shown, one in tools if not one["lost"]))


def report_rights(record: ServerRecord, *, as_json: bool) -> None:
    """Say what a server may, after that was changed."""
    if as_json:
        print_json({"server": record["name"], "permissions": record["permissions"]})
        return
    click.echo(plain(record["name"]))
    print_rights(record)


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
        "keep": bool(record.get("keep")),
        "environment": environment.to_json() if environment else None,
        "tools": [{"tool": shown, "name": one["name"], "lost": one["lost"]} for shown, one in record["tools"].items()],
    }
