"""`ferrule permissions`: what the tools may touch, and what the admin makes of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ferrule import discovery
from ferrule.admin import permission_changes
from ferrule.admin.doctor.refused_lately import Refusal, refused_lately
from ferrule.admin.permission_status import HELD, MALFORMED, WIDENED, PermissionStatus, status
from ferrule.cli.output import (
    coloured,
    home_as_tilde,
    note,
    plain,
    print_fact,
    print_indented,
    print_json,
    print_table,
    print_text,
)
from ferrule.cli.selection import complete, expand_one, json_option, tools_argument
from ferrule.config import configuration
from ferrule.errors import FerruleError
from ferrule.installed.suggestions import unknown_tool
from ferrule.plugin.declared_credentials import ask_new_version
from ferrule.trust import accepted_version, records
from ferrule.trust.declaration import MAX_PROCESSES
from ferrule.trust.description import phrases
from ferrule.trust.grants import OFF

if TYPE_CHECKING:
    from ferrule.discovery import InstalledTool
    from ferrule.text.json_types import JSONObject

_Command = TypeVar("_Command", bound=Callable[..., Any])
_OPTIONS = (
    ("network", "NETWORK", "public, loopback, private, HOST:PORT or *.HOST:PORT."),
    ("read", "PATH", "A file or folder: an absolute path, ~/…, ~, ~/* (without what is hidden) or . (where it runs)."),
    ("write", "PATH", "A file or folder that it may write, and read."),
    ("program", "PROGRAM", "A name on PATH, or an absolute path."),
    ("variable", "NAME", "A variable of the environment, or the beginning of names with a * behind it."),
    ("state", "FOLDER", "A folder of the state folder that tools share."),
    ("with-tool", "TOOL", "A tool, or the beginning of names with a *, that it has run: it gets their results."),
)
_UNHELD = {OFF: "Nothing of it is held, since isolation is off."}  # by the isolation
_KEYS = {"program": "programs", "variable": "environment", "with_tool": "tools"}


class PermissionsGroup(click.Group):
    """`ferrule permissions [TOOL…]` is `ferrule permissions show [TOOL…]`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put `show` in front, unless a command or a question for help stands there."""
        if not args or args[0] not in (*self.commands, *ctx.help_option_names):
            args = ["show", *args]
        return super().parse_args(ctx, args)


@click.group("permissions", cls=PermissionsGroup)
def command() -> None:
    """Show what the tools may touch: network, files, programs, variables; change it, and accept what is new.

    A tool declares it in tool.json, and config.toml changes it, in [tools.NAME.permissions]. A tool that asks for more
    than before is held until that is accepted. `ferrule permissions` and `ferrule permissions TOOL` are short for
    `ferrule permissions show`.

    \b
    Examples:
      ferrule permissions
      ferrule permissions grant weather --read ~/almanac --network sky.example:443
      ferrule permissions accept weather
    """


@command.command("show", short_help="Show what the tools may touch.")
@tools_argument
@json_option
def show(tools: tuple[str, ...], as_json: bool) -> int:
    """Show what each TOOL may touch, or all of them: what it declares, what config.toml makes of it, what is held.

    A state is `as declared`, `widened` or `narrowed` by config.toml, `held` until it is accepted, or `malformed`, where
    the table cannot be read. It also says what this system cannot hold a tool to, and of each TOOL what its calls were
    refused, where the journal is on, with the command that allows it. Nothing of a plugin is imported.

    The table has one row for the tools of one server that may the same; JSON, which programs read, has each tool.

    \b
    Example: ferrule permissions show web_fetch --json

    Exit code: 1 where one is held or malformed; 0 otherwise.
    """
    settings, chosen = configuration.read(), _chosen(tools)
    found = [status(tool, settings) for tool in chosen]
    if as_json:
        listed = [
            {**one.as_dict(), "refused": [each._asdict() for each in refused_lately(tool, settings)]}
            for tool, one in zip(chosen, found, strict=True)
        ]
        print_json({"configuration": settings.path, "tools": listed})
    elif tools:
        for tool, one in zip(chosen, found, strict=True):
            _print_one(one)
            _print_refused(refused_lately(tool, settings))
    elif found:
        of_sources = {tool.name for tool in chosen if tool.is_of_source}
        print_table(("TOOL", "STATE", "MAY"), _rows(found, of_sources), colour="STATE")
        _print_unenforced(found)
    else:
        click.echo("No tools are installed.")
    return int(any(one.problem for one in found))


@command.command("accept", short_help="Accept what a tool asks for now.")
@tools_argument
@json_option
def accept(tools: tuple[str, ...], as_json: bool) -> int:
    """Accept what each TOOL asks for now, so that it is held no longer; all that are held where none is named.

    \b
    Example: ferrule permissions accept weather

    Exit code: 1 where the record cannot be written, 0 otherwise.
    """
    settings = configuration.read()
    chosen = [tool for tool in _chosen(tools) if tools or status(tool, settings).state == HELD]
    for tool in chosen:
        ask_new_version(tool)
        try:
            records.accept(tool)
        except OSError as error:
            path = accepted_version.path_of(tool.name)
            raise FerruleError(f"{path} cannot be written: {error.strerror}.") from None
    found = [status(tool, settings) for tool in chosen]
    if as_json:
        print_json({"accepted": [one.as_dict() for one in found]})
    else:
        for one in found:
            print_text(f"accepted {one.tool}: {'; '.join(one.words())}", hanging=2)
        if not found:
            click.echo("No tool is held.")
    return 0


def _tools_of_pattern(command: _Command) -> _Command:
    """One name of a tool, or one pattern of names; the command gets the tools as the argument `tools`."""
    return click.argument("tools", metavar="TOOL", shell_complete=complete, callback=expand_one)(command)


def _entry_options(command: _Command) -> _Command:
    for name, metavar, text in reversed(_OPTIONS):
        command = click.option(f"--{name}", multiple=True, metavar=metavar, help=text)(command)
    return command


@command.command("grant", short_help="Let a tool have more.")
@_tools_of_pattern
@_entry_options
@click.option("--processes", type=click.IntRange(0, MAX_PROCESSES), help="Copies of itself that it may make.")
@json_option
def grant(tools: tuple[str, ...], processes: int | None, as_json: bool, **entries: tuple[str, ...]) -> int:
    """Let TOOL have what the options name, beside what it declares; written into config.toml.

    TOOL may be a pattern with a `*`: each tool whose name fits has it, or none where one of them cannot.

    Each option may be given several times. It stands in [tools.TOOL.permissions.added], or in the list of
    [tools.TOOL.permissions] where that has the key, in place of what the tool declares. What another tool keeps, keys
    and the configuration stay out of reach in any folder, and an option that names only such a thing is refused.

    \b
    Examples:
      ferrule permissions grant weather --read ~/almanac --read '~/*'
      ferrule permissions grant weather --network loopback --program gdalinfo
      ferrule permissions grant 'notes_*' --read /srv/notes

    Exit code: 1 where an option cannot be used or config.toml cannot be written, 0 otherwise.
    """
    chosen, wanted = _chosen(tools), _wanted(entries, processes)
    if not wanted:
        raise click.UsageError("Say what to grant, as in --read ~/notes.")
    for found in chosen:
        permission_changes.require_grantable(found, configuration.read(), wanted)
    return _tell_changes(
        [(found, permission_changes.grant(found, configuration.read(), wanted)) for found in chosen], as_json=as_json
    )


@command.command("revoke", short_help="Take something from a tool.")
@_tools_of_pattern
@_entry_options
@click.option("--processes", is_flag=True, help="All copies of itself.")
@click.option("--all", "is_all", is_flag=True, help="Take out what config.toml says of it: it has what it declares.")
@json_option
def revoke(tools: tuple[str, ...], processes: bool, is_all: bool, as_json: bool, **entries: tuple[str, ...]) -> int:
    """Take from TOOL what the options name, whether it was granted or declared; written into config.toml.

    TOOL may be a pattern with a `*`: it is taken from each tool whose name fits, in the order of their names.

    A list from which something declared was taken stands there in place of the declared one, in later versions too.

    \b
    Examples:
      ferrule permissions revoke weather --network public
      ferrule permissions revoke weather --all

    Exit code: 1 where TOOL does not have it or config.toml cannot be written, 0 otherwise.
    """
    unwanted = _wanted(entries, 0 if processes else None)
    if bool(unwanted) == is_all:
        raise click.UsageError("Say what to revoke, as in --read ~/notes, or --all.")
    changes = []
    for found in _chosen(tools):
        settings = configuration.read()
        forgotten = permission_changes.forget(found, settings) if is_all else []
        changed = dict.fromkeys(forgotten) if is_all else permission_changes.revoke(found, settings, unwanted)
        changes.append((found, changed))
    return _tell_changes(changes, as_json=as_json)


def _chosen(names: tuple[str, ...]) -> list[InstalledTool]:
    """The tools of these names, or all that one distribution alone claims. Raises ToolUnknown and ToolNameClash."""
    claims = discovery.scan()
    for name in names:
        if name not in claims:
            raise unknown_tool(name, claims)
        if len(claims[name]) > 1:
            raise discovery.clash(name, claims[name])
    return [claims[name][0] for name in sorted(set(names) or claims) if len(claims[name]) == 1]


def _wanted(entries: dict[str, tuple[str, ...]], processes: int | None) -> JSONObject:
    wanted: JSONObject = {_KEYS.get(name, name): list(given) for name, given in entries.items() if given}
    for key in ("read", "write"):
        if key in wanted:
            wanted[key] = list(map(permission_changes.as_written, wanted[key]))
    return wanted if processes is None else {**wanted, "processes": processes}


def _tell_changes(changes: Sequence[tuple[InstalledTool, JSONObject]], *, as_json: bool) -> int:
    """Print what the tools have now; in JSON one tool as an object of its own, several as the list `tools`."""
    settings = configuration.read()
    facts: list[JSONObject] = [
        {"changed": sorted(changed), **status(tool, settings).as_dict()} for tool, changed in changes
    ]
    if as_json:
        print_json({"configuration": settings.path, **(facts[0] if len(facts) == 1 else {"tools": facts})})
        return 0
    for tool, changed in changes:
        if not changed:
            note(f"{tool.name} has that already; nothing was changed.")
        else:
            click.echo(f"{plain(home_as_tilde(settings.path))}: [tools.{plain(tool.name)}.permissions]")
        _print_one(status(tool, settings))
    return 0


def _print_one(one: PermissionStatus) -> None:
    click.echo(f"{click.style(plain(one.tool), bold=True)}  {coloured(one.state)}")
    facts = [
        ("Distribution", one.source),
        ("May", "; ".join(one.words())),
        ("Here", "; ".join(one.places)),
        ("Widened", "; ".join(phrases(one.widened))),
        ("Not granted", "; ".join(phrases(one.narrowed))),
        ("Not told", " ".join(one.not_told())),
        ("Isolation", " ".join(filter(None, (one.isolation, _UNHELD.get(one.isolation))))),
        ("Not held here", " ".join(one.unenforced)),
        ("Not recorded", one.unrecorded or ""),
    ]
    for heading, text in facts:
        if text:
            print_fact(heading, text)
    if one.problem:
        print_indented(one.problem.message, one.problem.fix)


def _print_refused(found: Sequence[Refusal]) -> None:
    """What the journal has of what was refused, with what allows it."""
    for one in found:
        allows = f"; allowed by `{one.command}`" if one.command else ""
        print_fact("Refused", f"{one.kind} {one.what}{allows}")


def _rows(found: Sequence[PermissionStatus], of_sources: Collection[str]) -> Iterator[tuple[str, str, str]]:
    """A row for each tool, and one for those together that a source has, such as all of a server.

    of_sources: the names of those.
    """
    rows: dict[tuple[str, ...], list[PermissionStatus]] = {}
    for one in found:
        key = (one.source, *_row(one)[1:]) if one.tool in of_sources else (one.tool,)
        rows.setdefault(key, []).append(one)
    for together in rows.values():
        name, state, words = _row(together[0])
        yield name if len(together) == 1 else f"{len(together)} tools of {together[0].source}", state, words


def _row(one: PermissionStatus) -> tuple[str, str, str]:
    if one.state in (HELD, MALFORMED) and one.problem:
        return one.tool, one.state, one.problem.message
    widened = f" (config.toml: {'; '.join(phrases(one.widened))})" if one.state == WIDENED else ""
    return one.tool, one.state, "; ".join(one.words()) + widened


def _print_unenforced(found: list[PermissionStatus]) -> None:
    rows = [
        (one.tool, " ".join(filter(None, (_UNHELD.get(one.isolation), *one.unenforced, one.unrecorded))))
        for one in found
    ]
    rows = [row for row in rows if row[1]]
    if rows:
        click.echo()
        print_table(("TOOL", "NOT HELD ON THIS SYSTEM"), rows)
